/** How hostile a history is. Each seed draws its own mixture, so that faults also come alone and in pairs. */
import type { StripeAnswer } from '../../runtime/processor/ports';
import type { Random } from './random';

export type Outcome = 'succeeded' | 'declined' | 'processing' | 'requires_action';

export class Faults {
  /** Ends all faults: from then on the world is kind. */
  over = false;
  readonly #rates: Readonly<Record<string, number>>;
  readonly #outcomes: readonly Outcome[];

  constructor(
    random: Random,
    /** Kinds that are left out, to find those that matter. */
    private readonly without: ReadonlySet<string>,
  ) {
    // Half of the kinds are absent from any history, and the rest is anything between rare and frequent.
    const rate = (most: number) => (random.chance(0.5) ? 0 : most * random.next());
    this.#rates = {
      statementLost: rate(0.15),
      answerLost: rate(0.2),
      ghost: rate(0.05),
      requestLost: rate(0.2),
      requestLate: rate(0.4),
      replyLost: rate(0.4),
      serverError: rate(0.2),
      busy: rate(0.2),
      unauthorized: rate(0.02),
      refused: rate(0.1),
      wrongShape: rate(0.05),
      slow: rate(0.3),
      customer: rate(1),
      crashPoint: rate(0.1),
      crashAtAnswer: rate(0.03),
      pauseAtAnswer: rate(0.1),
      crash: rate(0.5),
      pause: rate(0.5),
      steal: rate(1),
      drain: rate(0.5),
      outage: rate(1),
      prune: rate(4),
      cancel: rate(0.6),
    };
    const kinds: Outcome[] = ['declined', 'processing', 'requires_action'];
    this.#outcomes = ['succeeded', ...kinds.filter(() => random.chance(0.4))];
  }

  /** Zero once the faults are over. */
  rate(kind: string): number {
    return this.over || this.without.has(kind) ? 0 : (this.#rates[kind] ?? 0);
  }

  /** Kinds that this history has. */
  get present(): string[] {
    return Object.keys(this.#rates).filter((kind) => this.#rates[kind] !== 0 && !this.without.has(kind));
  }

  statementLost = (chaos: Random) => chaos.chance(this.rate('statementLost'));
  answerLost = (chaos: Random) => chaos.chance(this.rate('answerLost'));
  ghostStatement = (chaos: Random) => chaos.chance(this.rate('ghost'));
  refused = (chaos: Random) => chaos.chance(this.rate('refused'));

  get slow(): number {
    return this.rate('slow');
  }

  /** The customer's share in what comes later goes on when the faults are over. */
  get customer(): number {
    return this.#rates.customer ?? 0;
  }

  outcome(chaos: Random): Outcome {
    return chaos.pick(this.#outcomes);
  }

  /** Before anything is executed or stored. */
  refusedBefore(chaos: Random, now: number): StripeAnswer | undefined {
    if (chaos.chance(this.rate('unauthorized'))) return { kind: 'unauthorized', status: 401, message: `at ${now}` };
    if (chaos.chance(this.rate('busy'))) return { kind: 'busy', why: chaos.pick(['rate', 'lock'] as const) };
    return undefined;
  }

  serverError(chaos: Random): { readonly when: 'before' | 'after'; readonly stored: boolean } | undefined {
    if (!chaos.chance(this.rate('serverError'))) return undefined;
    return { when: chaos.pick(['before', 'after'] as const), stored: chaos.chance(0.6) };
  }

  /** What the network does to a request. */
  fate(chaos: Random): 'fine' | 'lost' | 'late' | 'reply_lost' {
    if (chaos.chance(this.rate('requestLost'))) return 'lost';
    if (chaos.chance(this.rate('requestLate'))) return 'late';
    return chaos.chance(this.rate('replyLost')) ? 'reply_lost' : 'fine';
  }
}
