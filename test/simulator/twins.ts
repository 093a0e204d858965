/** The product with one thing taken away. Each must be noticed by the simulator. */
import { decide } from '../../runtime/processor/decide';
import type { Decision } from '../../runtime/processor/decision';
import type { ChargeRow, ClaimAnswer, LedgerPort, StripeAnswer } from '../../runtime/processor/ports';
import type { Twin } from './simulation';

const CREATE = { do: 'create', backoff: false } as const;

/** A port with some of its methods replaced. */
function changed<T extends object>(real: T, changes: Partial<T>): T {
  return new Proxy(real, {
    get(target, name) {
      const from = Object.hasOwn(changes, name) ? changes : target;
      const value: unknown = Reflect.get(from, name);
      return typeof value === 'function' && from === target ? value.bind(target) : value;
    },
  });
}

/** The claims of a worker that does not look at what the row says about an intent. */
function forgetful(real: LedgerPort): LedgerPort {
  const forget = (row: ChargeRow): ChargeRow =>
    row.status === 'pending' ? { ...row, paymentIntentId: null, confirmStarted: false } : row;
  return changed(real, {
    async claim(requests) {
      const answers = await real.claim(requests);
      return answers.map((a): ClaimAnswer => (a.outcome === 'mine' ? { ...a, row: forget(a.row) } : a));
    },
    claimDue: async (limit) => (await real.claimDue(limit)).map(forget),
  });
}

const isIntent = (answer: { readonly kind: string }): answer is Extract<StripeAnswer, { kind: 'intent' }> =>
  answer.kind === 'intent';

/** Never asks Stripe what is there, so a taken-over row begins with a create. */
const withoutList: Twin['decide'] = (row, phase, answer) =>
  phase.step === 'list' ? { write: { kind: 'none' }, next: CREATE } : decide(row, phase, answer);

export interface NamedTwin {
  readonly name: string;
  /** What the simulator must say. */
  readonly breaks: RegExp;
  readonly twin: Twin;
}

export const TWINS: readonly NamedTwin[] = [
  {
    name: 'R1: create moves money',
    breaks: /two charges|not the row’s|without a hold/,
    twin: { createConfirms: true },
  },
  {
    name: 'R2: the answers of save and gate are ignored',
    breaks: /two charges|not the row’s/,
    twin: {
      ledger: (real) =>
        changed(real, {
          saveIntent: async (row, id) => (await real.saveIntent(row, id)) || true,
          gate: async (row) => (await real.gate(row)) || true,
        }),
    },
  },
  {
    name: 'R4 and R5: a taken-over row begins anew and overwrites its intent',
    breaks: /two charges|not the row’s/,
    twin: { ledger: forgetful, off: ['save-once'], decide: withoutList },
  },
  {
    name: 'R6: an intent that was not seen canceled is replaced',
    breaks: /two charges|not the row’s/,
    twin: {
      decide: (row, phase, answer) => {
        const open = isIntent(answer) && answer.intent.status === 'requires_confirmation';
        if (phase.step !== 'retrieve' || !open) return decide(row, phase, answer);
        return { write: { kind: 'drop_intent' }, next: CREATE };
      },
    },
  },
  {
    name: 'R6: an intent in requires_action is replaced',
    breaks: /two charges|not the row’s/,
    twin: {
      decide: (row, phase, answer) => {
        const waits = isIntent(answer) && answer.intent.status === 'requires_action';
        if (phase.step !== 'retrieve' || !waits) return decide(row, phase, answer);
        return { write: { kind: 'drop_intent' }, next: CREATE };
      },
    },
  },
  {
    name: 'R8 and R11: charged can be overwritten',
    breaks: /charged was overwritten|does not add up/,
    twin: { off: ['absorbing', 'settle-fenced'] },
  },
  { name: 'R9: a decline frees the hold', breaks: /without a hold|cap/, twin: { off: ['hold-kept'] } },
  { name: 'R10: a take-over holds again', breaks: /does not add up|overrun/, twin: { off: ['hold-once'] } },
  {
    name: 'R14: a late success is refused',
    breaks: /stuck/,
    twin: {
      decide: (row, phase, answer): Decision => {
        const late = isIntent(answer) && answer.intent.status === 'succeeded' && row.status !== 'pending';
        return late ? { write: { kind: 'none' }, next: { do: 'done' } } : decide(row, phase, answer);
      },
    },
  },
  { name: 'R16: rows without an intent are left to nobody', breaks: /stuck/, twin: { off: ['due-without-intent'] } },
  {
    name: 'R16: a checkpoint passes an event before its row is committed',
    breaks: /a checkpoint passed/,
    twin: {
      ledger: (real) =>
        changed(real, {
          look: async (events) => events.map(() => ({ outcome: 'settled' as const, status: 'charged' as const })),
        }),
    },
  },
  {
    name: 'a claim that failed counts as settled',
    breaks: /a checkpoint passed/,
    twin: {
      ledger: (real) =>
        changed(real, {
          claim: (requests) =>
            real
              .claim(requests)
              .catch((): ClaimAnswer[] => requests.map(() => ({ outcome: 'settled', status: 'pending' }))),
        }),
    },
  },
  {
    name: 'an unknown confirm is taken for a failed one',
    breaks: /stuck|without a hold/,
    twin: {
      decide: (row, phase, answer) =>
        phase.step === 'confirm' && answer.kind === 'no_answer'
          ? { write: { kind: 'settle', settlement: { status: 'rejected', closed: true } }, next: { do: 'done' } }
          : decide(row, phase, answer),
    },
  },
  {
    name: 'a busy key is given up for a new one',
    breaks: /two charges|not the row’s/,
    twin: {
      decide: (row, phase, answer) =>
        phase.step === 'confirm' && answer.kind === 'busy'
          ? { write: { kind: 'drop_intent' }, next: CREATE }
          : decide(row, phase, answer),
    },
  },
  {
    name: 'customers are charged side by side with themselves',
    breaks: /two requests of one customer/,
    twin: { neverBusy: true },
  },
];
