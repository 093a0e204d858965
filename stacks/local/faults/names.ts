/** Everything that can be done to a run. */
import type { SourceName } from '../sources/parts';

/** Faults of the machinery: they change no event, so every count follows from the published file. In order of the report. */
const MACHINERY = {
  kinesis: ['kill', 'lost-answer', 'slow-charge', 'throttle', 'theft', 'split', 'outage'],
  'event-hubs': [
    ...(['cold-start', 'kill', 'lost-answer', 'slow-charge', 'storage-outage', 'theft', 'lost-ack'] as const),
    ...(['database-outage', 'silent-link'] as const),
  ],
} as const satisfies Readonly<Record<SourceName, readonly string[]>>;

/** Faults of the events: any producer of any source makes them. */
export const EVENT_FAULTS = ['duplicates', 'malformed', 'declines', 'conflict'] as const;

export type FaultName = (typeof MACHINERY)[SourceName][number] | (typeof EVENT_FAULTS)[number];

/** What can be done to this source, in the order of its report. */
export function faultsOf(source: SourceName): readonly FaultName[] {
  return [...MACHINERY[source], ...EVENT_FAULTS];
}

export const FAULT_NAMES: readonly FaultName[] = [
  ...new Set<FaultName>([...MACHINERY.kinesis, ...MACHINERY['event-hubs'], ...EVENT_FAULTS]),
];

/** What happened of one fault. `seen` counts the observations that prove that it struck. */
export interface FaultReport {
  readonly name: FaultName;
  injected: number;
  seen: number;
}
