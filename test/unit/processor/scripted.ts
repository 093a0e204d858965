/** Ports that answer from a script and write down what they were asked, for tests of `charge` alone. */
import type { CrashPoint } from '../../../runtime/contract';
import { type ChargeLimits, type ChargeOutcome, type ChargeTools, charge } from '../../../runtime/processor/charge';
import { decide } from '../../../runtime/processor/decide';
import type { ChargeRow, LedgerPort, PaymentMethodAnswer, StripeAnswer } from '../../../runtime/processor/ports';
import { FakeHost } from '../../support/fake-host';
import { KeptLog, KeptMetrics } from '../../support/quiet';

type Ask = 'resolve' | 'create' | 'list' | 'confirm' | 'retrieve';
export type Script = readonly (readonly [Ask, StripeAnswer | PaymentMethodAnswer])[];

export interface Run {
  readonly outcome: ChargeOutcome;
  /** Every request, write and crash point in order: `create key-1`, `save pi_1`, `gate`, `[after-gate]`. */
  readonly trace: readonly string[];
  /** Fake milliseconds before each request. */
  readonly pauses: readonly number[];
  readonly log: KeptLog;
  readonly metrics: KeptMetrics;
}

export interface Options {
  readonly ledger?: Partial<LedgerPort>;
  readonly limits?: Partial<ChargeLimits>;
  /** Called with each line of the trace as it is written. */
  readonly onTrace?: (line: string) => void;
  /** Milliseconds of the fake clock that each request takes. */
  readonly takesMs?: number;
}

export async function runCharge(row: ChargeRow, script: Script, options: Options = {}): Promise<Run> {
  const host = new FakeHost();
  const log = new KeptLog();
  const metrics = new KeptMetrics();
  const trace: string[] = [];
  const pauses: number[] = [];
  const rest = [...script];
  let last = 0;
  const say = (line: string) => {
    trace.push(line);
    options.onTrace?.(line);
  };
  const answer = async (ask: Ask, detail: string) => {
    pauses.push(host.monotonic() - last);
    say(`${ask} ${detail}`);
    const next = rest.shift();
    if (next?.[0] !== ask) throw new Error(`The script has ${next?.[0] ?? 'ended'}, but ${ask} was asked`);
    if (options.takesMs !== undefined) await host.sleep(options.takesMs);
    last = host.monotonic();
    return next[1];
  };
  const confirmKey = (r: ChargeRow) => `${r.idempotencyKey}-confirm-${r.attempt}`;
  const tools: ChargeTools = {
    host,
    log,
    metrics,
    decide,
    keyOfAttempt: (_row, attempt) => `key-${attempt}`,
    crash: (point: CrashPoint) => say(`[${point}]`),
    stripe: {
      defaultPaymentMethod: async (r) => (await answer('resolve', r.stripeCustomerId)) as PaymentMethodAnswer,
      createIntent: async (r) => (await answer('create', r.idempotencyKey)) as StripeAnswer,
      confirmIntent: async (r) => (await answer('confirm', confirmKey(r))) as StripeAnswer,
      retrieveIntent: async (r) => (await answer('retrieve', r.paymentIntentId ?? '?')) as StripeAnswer,
      listIntents: async (r) => (await answer('list', r.stripeCustomerId)) as StripeAnswer,
    },
    ledger: scriptedLedger(say, options.ledger ?? {}),
  };
  const limits: ChargeLimits = { mayGoOn: () => true, deadline: 90_000, ...options.limits };
  let outcome: ChargeOutcome | undefined;
  let failure: unknown;
  charge(row, limits, tools).then(
    (value) => {
      outcome = value;
    },
    (error: unknown) => {
      failure = error ?? new Error('rejected without a reason');
    },
  );
  await host.until(() => outcome !== undefined || failure !== undefined);
  if (failure !== undefined) throw failure;
  return { outcome: outcome!, trace, pauses, log, metrics };
}

function scriptedLedger(say: (line: string) => void, changes: Partial<LedgerPort>): LedgerPort {
  const notHere = async (): Promise<never> => {
    throw new Error('charge must not ask this of the ledger');
  };
  const plain: LedgerPort = {
    look: notHere,
    claim: notHere,
    claimDue: notHere,
    deadLetter: notHere,
    freezePaymentMethod: async () => true,
    saveIntent: async () => true,
    gate: async () => true,
    settle: async () => true,
    dropIntent: async (row, key) => ({
      ...row,
      status: 'pending',
      paymentIntentId: null,
      confirmStarted: false,
      attempt: row.attempt + 1,
      idempotencyKey: key,
    }),
    nextAttempt: async (row, key) => ({
      ...row,
      attempt: row.attempt + 1,
      ...(key !== undefined && { idempotencyKey: key }),
    }),
    release: async () => undefined,
  };
  const ledger = { ...plain, ...changes };
  return {
    ...ledger,
    freezePaymentMethod: (row, method) => {
      say(`freeze ${method}`);
      return ledger.freezePaymentMethod(row, method);
    },
    saveIntent: (row, id) => {
      say(`save ${id}`);
      return ledger.saveIntent(row, id);
    },
    gate: (row) => {
      say('gate');
      return ledger.gate(row);
    },
    settle: (row, settlement) => {
      say(`settle ${settlement.status}${settlement.closed ? ' closed' : ''}`);
      return ledger.settle(row, settlement);
    },
    dropIntent: (row, key) => {
      say(`drop ${row.paymentIntentId} for ${key}`);
      return ledger.dropIntent(row, key);
    },
    nextAttempt: (row, key) => {
      say(`attempt ${row.attempt + 1}${key === undefined ? '' : ` with ${key}`}`);
      return ledger.nextAttempt(row, key);
    },
    release: (row) => {
      say('release');
      return ledger.release(row);
    },
  };
}
