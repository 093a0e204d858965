/** What a fault may use, and where it reports. */
import { type Fleet, until } from '../fleet';
import type { Screen } from '../screen';
import type { Parts } from '../sources/parts';
import { FAULT_NAMES, type FaultName, type FaultReport } from './names';

export interface FaultContext<P extends Parts = Parts> {
  /** Whether every line that was published is accounted for: no charge will come by any more. */
  nothingLeft(): Promise<boolean>;
  readonly parts: P;
  readonly fleet: Fleet;
  readonly screen: Screen;
  readonly log: FaultLog;
}

/** How long a fault waits for something to strike. */
const OPPORTUNITY_MS = 20_000;

/** Waits for a request at Stripe that a fault holds; undefined when none comes by. */
export async function caught<T>(reached: Promise<T>, context: FaultContext): Promise<T | undefined> {
  let found: T | undefined;
  void reached.then((value) => {
    found = value;
  });
  await until(async () => found !== undefined || (await context.nothingLeft()), OPPORTUNITY_MS, 250);
  return found;
}

/** What was injected and seen, and what must not have happened. */
export class FaultLog {
  readonly problems: string[] = [];
  readonly #reports = new Map<FaultName, FaultReport>();

  /** `asked`: faults that are reported even when they found nothing to strike. */
  constructor(asked: Iterable<FaultName> = []) {
    for (const name of asked) this.#of(name);
  }

  injected(name: FaultName, count = 1): void {
    this.#of(name).injected += count;
  }

  seen(name: FaultName, count = 1): void {
    this.#of(name).seen += count;
  }

  get reports(): FaultReport[] {
    return FAULT_NAMES.flatMap((name) => this.#reports.get(name) ?? []);
  }

  #of(name: FaultName): FaultReport {
    const known = this.#reports.get(name);
    if (known) return known;
    const report: FaultReport = { name, injected: 0, seen: 0 };
    this.#reports.set(name, report);
    return report;
  }
}
