/** What of a template would cost a user data, or an address, if it changed. */
import { CREATE_ONLY } from './create-only';
import type { Template } from './synthesis';

export interface Frozen {
  readonly type: string;
  /** What CloudFormation does with it when it leaves the template, and when it is replaced. */
  readonly kept: readonly [whenDeleted: string, whenReplaced: string];
  /** Create-only properties that are set. */
  readonly fixed: Readonly<Record<string, unknown>>;
}

/** By logical id. */
export type FrozenTemplate = Readonly<Record<string, Frozen>>;

/** The stateful resources of a template, and what of them must stay. */
export function frozenOf(template: Template): FrozenTemplate {
  const entries = Object.entries(template.Resources).flatMap(([id, resource]) => {
    const { Type: type, Properties = {}, DeletionPolicy = 'Delete', UpdateReplacePolicy = 'Delete' } = resource;
    const createOnly = CREATE_ONLY[type];
    if (createOnly === undefined) return [];
    const set = createOnly.filter((property) => property in Properties);
    const fixed = Object.fromEntries(set.map((property) => [property, Properties[property]]));
    return [[id, { type, kept: [DeletionPolicy, UpdateReplacePolicy], fixed } satisfies Frozen] as const];
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const WAY_OUT =
  'Undo the change. There is no update that keeps the data: it has to be moved by hand, by every user, ' +
  'so it waits for a major version with a written way.';

/** In words, what an update from one template to the other would do to the user's data. Empty: nothing. */
export function replacements(before: FrozenTemplate, after: FrozenTemplate): string[] {
  const words = Object.entries(before).flatMap(([id, was]) => changes(id, was, after[id]));
  const added = Object.keys(after).filter((id) => before[id] === undefined);
  return [
    ...words.map((what) => `this replaces the user's data: ${what}. ${WAY_OUT}`),
    ...added.map(
      (id) => `${after[id]!.type} ${id} is new and not frozen yet: add ${JSON.stringify({ [id]: after[id] })}`,
    ),
  ];
}

function changes(id: string, was: Frozen, is: Frozen | undefined): string[] {
  const name = `${was.type} ${id}`;
  if (is === undefined) return [`${name} is gone or has another logical id, so a new one is made and the old one left`];
  if (is.type !== was.type) return [`${name} became ${is.type}`];
  const properties = [...new Set([...Object.keys(was.fixed), ...Object.keys(is.fixed)])];
  const replaced = properties
    .filter((property) => !same(was.fixed[property], is.fixed[property]))
    .map((property) => {
      const [old, now] = [was, is].map(({ fixed }) => JSON.stringify(fixed[property]) ?? 'not set');
      return `${name} is made anew when ${property} changes: it was ${old} and is ${now}`;
    });
  const dropped = same(was.kept, is.kept) ? [] : [`${name} was kept as ${was.kept} and is now as ${is.kept}`];
  return [...replaced, ...dropped];
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
