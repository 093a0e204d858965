/** What is done to the run, in the order in which it is done. */
export const FAULT_NAMES = [
  'kill',
  'lost-answer',
  'slow-charge',
  'throttle',
  'theft',
  'split',
  'outage',
  'duplicates',
  'malformed',
  'declines',
  'conflict',
] as const;
export type FaultName = (typeof FAULT_NAMES)[number];

/** Faults of the machinery: they change no event, so every count follows from the published file. */
export const MACHINERY_FAULTS: readonly FaultName[] = [
  'kill',
  'lost-answer',
  'slow-charge',
  'throttle',
  'theft',
  'split',
  'outage',
];

/** What happened of one fault. `seen` counts the observations that prove that it struck. */
export interface FaultReport {
  readonly name: FaultName;
  injected: number;
  seen: number;
}
