/**
 * The ledger as one process reaches it: statements take time, are lost, are committed without an answer, are repeated
 * as the real one repeats them, and now and then are executed once more long after the process gave up on them. Calls
 * that arrive together share a statement by the real group commit.
 */
import { LedgerUnavailable } from '../../runtime/ledger/errors';
import { GroupCommit } from '../../runtime/ledger/group-commit';
import type {
  BillingEvent,
  ChargeRow,
  ClaimAnswer,
  ClaimRequest,
  DeadLetter,
  LedgerPort,
  Settlement,
} from '../../runtime/processor/ports';
import type { Life } from './life';
import { type ModelLedger, nameOf, type Write } from './model-ledger';
import type { Simulation } from './simulation';

export class SimLedger implements LedgerPort {
  readonly #claims: GroupCommit<ClaimRequest, ClaimAnswer>;
  readonly #writes: GroupCommit<{ readonly row: ChargeRow; readonly write: Write }, ChargeRow | undefined>;

  constructor(
    private readonly world: Simulation,
    private readonly model: ModelLedger,
    private readonly life: Life,
  ) {
    this.#claims = new GroupCommit({
      host: life,
      identity: ({ event }) => nameOf(event),
      run: (requests) => {
        const token = this.life.uuid();
        return this.#run(() => this.model.claim(token, requests));
      },
    });
    this.#writes = new GroupCommit({
      host: life,
      identity: ({ row }) => nameOf(row),
      run: (writes) => this.#run(() => writes.map(({ row, write }) => this.model.write(row, write))),
    });
  }

  look = (events: readonly BillingEvent[]) => this.#run(() => this.model.look(events));

  claim(requests: readonly ClaimRequest[]) {
    return this.#claims.submit(requests);
  }

  claimDue(limit: number) {
    const token = this.life.uuid();
    return this.#run(() => this.model.claimDue(token, limit));
  }

  async freezePaymentMethod(row: ChargeRow, paymentMethod: string) {
    return (await this.#write(row, { op: 'freeze', paymentMethod })) !== undefined;
  }

  async saveIntent(row: ChargeRow, paymentIntentId: string) {
    return (await this.#write(row, { op: 'save', paymentIntentId })) !== undefined;
  }

  async gate(row: ChargeRow) {
    return (await this.#write(row, { op: 'gate' })) !== undefined;
  }

  async settle(row: ChargeRow, settlement: Settlement) {
    return (await this.#write(row, { op: 'settle', settlement })) !== undefined;
  }

  dropIntent(row: ChargeRow, idempotencyKey: string) {
    return this.#write(row, { op: 'drop', idempotencyKey });
  }

  nextAttempt(row: ChargeRow, idempotencyKey?: string) {
    return this.#write(row, { op: 'next', idempotencyKey: idempotencyKey ?? null });
  }

  async release(row: ChargeRow) {
    await this.#write(row, { op: 'release' });
  }

  deadLetter = (letters: readonly DeadLetter[]) => this.#run(() => this.model.deadLetter(letters));

  async #write(row: ChargeRow, write: Write) {
    const [written] = await this.#writes.submit([{ row, write }]);
    return written;
  }

  async #run<T>(statement: () => T): Promise<T> {
    const started = this.life.monotonic();
    for (let tries = 1; ; tries++) {
      const answer = await this.#once(statement);
      if (answer !== 'failed') return answer.value;
      const pause = Math.min(2_000, 50 * 2 ** (tries - 1));
      const waited = this.life.monotonic() - started;
      if (waited + pause > this.world.settings.ledgerRetryForMs)
        throw new LedgerUnavailable('simulated', waited, new Error('no answer'));
      await this.life.sleep(pause);
    }
  }

  #once<T>(statement: () => T): Promise<{ readonly value: T } | 'failed'> {
    const { chaos, clock } = this.life;
    const { faults, ledger } = this.world;
    if (this.life.dead) return new Promise(() => undefined);
    return new Promise((resolve) => {
      const there = chaos.between(1, 10);
      clock.after(there, () => {
        if (this.world.ledgerDown()) return this.life.after(chaos.between(1, 300), () => resolve('failed'));
        if (faults.ghostStatement(chaos)) clock.after(chaos.between(15_000, 200_000), () => ledger.changed(statement));
        if (faults.statementLost(chaos)) return this.life.after(chaos.between(1, 15_000), () => resolve('failed'));
        const value = ledger.changed(statement);
        const lost = faults.answerLost(chaos);
        this.life.answer(lost ? chaos.between(1, 15_000) : 1, () => resolve(lost ? 'failed' : { value }));
      });
    });
  }
}
