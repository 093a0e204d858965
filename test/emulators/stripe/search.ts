/** The search index: behind the truth by its lag, on the emulator's clock. */
import type { EmulatorClock } from './clock';
import { invalidRequest } from './errors';
import type { StripeObject } from './objects';

interface Version<T> {
  readonly visibleAt: number;
  readonly snapshot: T;
}

export class SearchIndex<T extends StripeObject> {
  readonly #versions = new Map<string, Version<T>[]>();

  constructor(
    private readonly clock: EmulatorClock,
    private readonly lagMs: number,
  ) {}

  put(snapshot: T): void {
    const versions = this.#versions.get(snapshot.id) ?? [];
    versions.push({ visibleAt: this.clock.now() + this.lagMs, snapshot });
    this.#versions.set(snapshot.id, versions);
  }

  /** What the index knows by now, newest object first. */
  visible(): T[] {
    const now = this.clock.now();
    const found: T[] = [];
    for (const versions of this.#versions.values()) {
      const newest = versions.findLast((version) => version.visibleAt <= now);
      if (newest !== undefined) found.unshift(newest.snapshot);
    }
    return found;
  }
}

type Predicate = (object: StripeObject) => boolean;

const CLAUSE = /^\s*(-?)(\w+)(?:\[["']([^"']+)["']\])?\s*(:|>=|<=|>|<|~)\s*(?:(["'])((?:\\.|(?!\5).)*)\5|([\w.-]+))\s*/;

/** Stripe's search language: clauses joined by AND or by OR, never both, ten at most, no parentheses. */
export function compileQuery(query: string): Predicate {
  const clauses: Predicate[] = [];
  const joints = new Set<string>();
  let rest = query;
  for (;;) {
    const match = CLAUSE.exec(rest);
    if (match === null) throw badQuery(query);
    clauses.push(clause(match));
    rest = rest.slice(match[0].length);
    if (rest === '') break;
    const joint = /^(AND|OR)\s+/i.exec(rest);
    joints.add((joint?.[1] ?? 'AND').toUpperCase());
    rest = rest.slice(joint?.[0].length ?? 0);
  }
  if (clauses.length > 10 || joints.size > 1) throw badQuery(query);
  return joints.has('OR')
    ? (object) => clauses.some((holds) => holds(object))
    : (object) => clauses.every((holds) => holds(object));
}

function clause(match: RegExpExecArray): Predicate {
  const [, negation, field = '', key, operator, , quoted, bare] = match;
  const wanted = quoted === undefined ? (bare ?? '') : quoted.replace(/\\(.)/g, '$1');
  const read = (object: StripeObject): unknown => {
    const value = object[field];
    return key === undefined ? value : (value as Record<string, unknown> | undefined)?.[key];
  };
  const holds: Predicate = (object) => {
    const value = read(object);
    if (bare === 'null') return value === null || value === undefined;
    if (value === null || value === undefined) return false;
    if (operator === ':') return String(value) === wanted;
    if (operator === '~') return String(value).includes(wanted);
    const [left, right] = [Number(value), Number(wanted)];
    if (operator === '>') return left > right;
    if (operator === '>=') return left >= right;
    return operator === '<' ? left < right : left <= right;
  };
  return negation === '-' ? (object) => !holds(object) : holds;
}

function badQuery(query: string) {
  return invalidRequest(
    `We were unable to parse your search query \`${query}\`. Queries have up to 10 clauses, joined by AND or by OR but not by both.`,
    { param: 'query' },
  );
}
