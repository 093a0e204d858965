/** Crash points: compiled into the shipped code, armed only by tests. */
import { writeSync } from 'node:fs';
import type { CrashPoint } from '../contract';
import type { ReachCrashPoint } from '../processor/ports';

/** Which point kills the process, and at which time it is reached (1: the first). */
export interface CrashAt {
  readonly point: CrashPoint;
  readonly nth: number;
}

/** Kills this process as `kill -9` would when the armed point is reached; without one it does nothing. */
export function crashPoints(
  armed: CrashAt | undefined,
  die: (line: string) => void = killThisProcess,
): ReachCrashPoint {
  let reached = 0;
  return (point) => {
    if (armed === undefined || point !== armed.point) return;
    reached += 1;
    if (reached === armed.nth)
      die(`chargeonce: crash point ${point} reached for the ${reached}. time: killing process ${process.pid}\n`);
  };
}

function killThisProcess(line: string): void {
  writeSync(2, line);
  process.kill(process.pid, 'SIGKILL');
}
