/** Faults of the machinery: they change no event, so every count follows from the published file. */
export const MACHINERY_FAULTS = ['kill', 'lost-answer', 'slow-charge', 'throttle', 'theft', 'split', 'outage'] as const;

/** Everything that can be done to the run, in the order of the report. */
export const FAULT_NAMES = [...MACHINERY_FAULTS, 'duplicates', 'malformed', 'declines', 'conflict'] as const;
export type FaultName = (typeof FAULT_NAMES)[number];

/** What happened of one fault. `seen` counts the observations that prove that it struck. */
export interface FaultReport {
  readonly name: FaultName;
  injected: number;
  seen: number;
}
