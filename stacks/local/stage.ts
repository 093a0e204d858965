/** One source's run: what its play may use, and where it stands. */
import { createDecoder } from '../../runtime/decode';
import { systemHost } from '../../runtime/host';
import type { EventPlan } from './events';
import { type FaultContext, FaultLog } from './faults/context';
import type { FaultName } from './faults/names';
import { type Fleet, until } from './fleet';
import { type Decode, type Judgement, judge, readLedger, remembering } from './oracle';
import type { Screen } from './screen';
import type { Parts, Published } from './sources/parts';

export interface StageOptions<P extends Parts> {
  publish(lines: readonly Uint8Array[], parts: P): Promise<Published>;
  readonly events: EventPlan;
  /** What is to be done to this source. */
  readonly faults: ReadonlySet<FaultName>;
  readonly workers: number;
  readonly screen: Screen;
  readonly parts: P;
  readonly fleet: Fleet;
}

const READY_MS = 20_000;
/** Nothing moved for this long: what is open then stays open. Longer than a claim. */
const STALLED_MS = 100_000;

export class Stage<P extends Parts = Parts> implements FaultContext<P> {
  readonly parts: P;
  readonly fleet: Fleet;
  readonly screen: Screen;
  readonly log: FaultLog;
  /** Lines that did not become part of the stream, in words. */
  readonly refused: string[] = [];
  readonly #published: Uint8Array[] = [];
  readonly #decode: Decode = remembering(createDecoder({ defaultCurrency: 'usd' }));

  constructor(private readonly options: StageOptions<P>) {
    ({ parts: this.parts, fleet: this.fleet, screen: this.screen } = options);
    this.log = new FaultLog(options.faults);
  }

  has(...names: FaultName[]): boolean {
    return names.some((name) => this.options.faults.has(name));
  }

  /** The lines between two fractions of all. */
  lines(from: number, to: number): readonly Uint8Array[] {
    const { lines } = this.options.events;
    return lines.slice(Math.ceil(lines.length * from), Math.ceil(lines.length * to));
  }

  /** Whether the line is an event, as the workers see it. */
  isEvent(line: Uint8Array): boolean {
    return this.#decode(line).ok;
  }

  /** `oneByOne`: each once the one before is ready, so that none finds another's work half done. */
  async startWorkers({ oneByOne = false, readyMs = READY_MS } = {}): Promise<void> {
    const { fleet, screen } = this;
    for (let count = 0; count < this.options.workers; count++) {
      const worker = await fleet.start();
      if (oneByOne) await worker.ready(readyMs);
    }
    await Promise.all(fleet.alive.map((worker) => worker.ready(readyMs)));
    screen.step(`${fleet.alive.length} workers ready: pid ${fleet.alive.map((worker) => worker.pid).join(', ')}`);
  }

  /** Publishes; answers how many of the lines the stream took. */
  async send(lines: readonly Uint8Array[]): Promise<number> {
    if (lines.length === 0) return 0;
    const result = await this.options.publish(lines, this.parts);
    this.#published.push(...result.accepted);
    this.refused.push(...result.refused);
    this.screen.step(`${result.accepted.length} lines published (${this.#published.length} so far)`);
    return result.accepted.length;
  }

  /** The duplicates that every producer makes one day: all of it once more. */
  async sendAgain(): Promise<void> {
    const { lines } = this.options.events;
    this.screen.fault('duplicates', `the whole batch of ${lines.length} lines is published once more`);
    this.log.injected('duplicates', lines.length);
    this.log.seen('duplicates', await this.send(lines));
  }

  /** Judges what there is so far. */
  async look(): Promise<Judgement> {
    const client = await this.parts.ledgerClient();
    try {
      // Stripe's books first: money that moves in between is seen in the ledger, not the other way round.
      const books = [...this.parts.stripe.books.charges];
      return judge(this.#published, await readLedger(client), books, this.#decode);
    } finally {
      await client.end();
    }
  }

  async nothingLeft(): Promise<boolean> {
    const { counts } = await this.look();
    return this.#published.length > 0 && counts.pending === 0 && counts.lost === 0;
  }

  /** Waits until every published line is accounted for and no row is pending, or until nothing moves any more. */
  async settleDown(): Promise<void> {
    let last = '';
    let movedAt = systemHost.monotonic();
    let saidAt = movedAt;
    const settled = async () => {
      this.fleet.measure();
      const { counts } = await this.look();
      const state = JSON.stringify(counts);
      const now = systemHost.monotonic();
      if (state !== last) movedAt = now;
      last = state;
      if (now - saidAt > 5_000) {
        saidAt = now;
        const { charged, pending, lost } = counts;
        this.screen.step(`${charged} charged, ${pending} pending, ${lost} lines not accounted for yet`);
      }
      if (this.fleet.alive.length === 0) return true;
      return (counts.pending === 0 && counts.lost === 0) || now - movedAt > STALLED_MS;
    };
    if (!(await until(settled, 3_600_000, 250))) this.screen.step('gave up waiting');
  }
}
