/**
 * A rule of the protocol as a scenario that ends well while the rule is kept, and in a problem that the audit names once
 * the rule is taken away. Where one guard covers another, each of the pair alone is taken away first, and must be missed
 * by nobody.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mutate } from '../ledger/mutate';
import { audit } from '../support/audit';
import { type BillingWorld, useBillingWorld, type WorkerOptions } from '../support/billing-world';

/** How a rule is taken away: from the workers, or from a function of the database. */
export interface Without {
  readonly worker?: WorkerOptions;
  readonly sql?: readonly (readonly [fn: string, from: string, to: string])[];
  /** From the scenario itself, for verbs that are not written yet. */
  readonly scenario?: string;
}

export interface Rule {
  readonly rule: string;
  /**
   * `off`: for those workers that the rule is taken away from. `without`: what else is taken away. Resolves to a list of
   * the problems that the audit cannot see, if there can be any.
   */
  readonly scenario: (world: BillingWorld, off: WorkerOptions, without: string) => Promise<unknown>;
  readonly without: Without;
  /** What the audit must say then. */
  readonly problem: RegExp;
  /** Taken away alone, these change nothing: another guard covers. */
  readonly covered?: Readonly<Record<string, Without>>;
}

export function testRules(rules: readonly Rule[]): void {
  const open = useBillingWorld();
  let world: BillingWorld;
  let restore: (() => Promise<unknown>)[] = [];
  beforeEach(() => {
    world = open();
  });
  afterEach(async () => {
    for (const putBack of restore.reverse()) await putBack();
    restore = [];
  });
  const run = async (rule: Rule, { worker = {}, sql = [], scenario = '' }: Without): Promise<string[]> => {
    for (const [fn, from, to] of sql) restore.push(await mutate(world.db, fn, from, to));
    const seen = await rule.scenario(world, worker, scenario);
    return [...(Array.isArray(seen) ? seen : []), ...(await audit(world))];
  };
  for (const rule of rules) {
    describe(rule.rule, () => {
      it('holds', async () => {
        expect(await run(rule, {})).toEqual([]);
      });

      for (const [name, without] of Object.entries(rule.covered ?? {})) {
        it(`holds without ${name}: another guard covers it`, async () => {
          expect(await run(rule, without)).toEqual([]);
        });
      }

      it(`without it: ${rule.problem.source}`, async () => {
        expect((await run(rule, rule.without)).join('; ')).toMatch(rule.problem);
      });
    });
  }
}
