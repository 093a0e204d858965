/** Cursor pages, newest first. Strongly consistent, unlike search. */
import { invalidRequest, resourceMissing } from './errors';
import type { StripeObject } from './objects';
import { either, integer, list, object, type ParamSpecs, type Params, text } from './params';

export const EXPAND = { expand: list(text()) } as const;

export const PAGE: ParamSpecs = {
  limit: integer,
  starting_after: text(),
  ending_before: text(),
  ...EXPAND,
};

export const CREATED = either(integer, object({ gt: integer, gte: integer, lt: integer, lte: integer }));

/** A page of what is given, which must be in order of creation, oldest first. */
export function page<T extends StripeObject>(oldestFirst: Iterable<T>, params: Params, url: string) {
  const all = [...oldestFirst].reverse();
  const limit = pageSize(params);
  const after = params.text('starting_after');
  const before = params.text('ending_before');
  if (after !== undefined && before !== undefined) {
    throw invalidRequest('You cannot parameterize both starting_after and ending_before.', { param: 'ending_before' });
  }
  if (before !== undefined) {
    const newer = all.slice(0, position(all, before, 'ending_before'));
    return { object: 'list', data: newer.slice(-limit), has_more: newer.length > limit, url };
  }
  const older = after === undefined ? all : all.slice(position(all, after, 'starting_after') + 1);
  return { object: 'list', data: older.slice(0, limit), has_more: older.length > limit, url };
}

/** Stripe's `limit`: 1 to 100, absent 10. */
export function pageSize(params: Params): number {
  const limit = params.integer('limit') ?? 10;
  if (limit < 1 || limit > 100) {
    throw invalidRequest(
      `This value must be ${limit < 1 ? 'greater than or equal to 1' : 'less than or equal to 100'}.`,
      {
        code: 'parameter_invalid_integer',
        param: 'limit',
      },
    );
  }
  return limit;
}

function position(all: readonly StripeObject[], id: string, param: string): number {
  const at = all.findIndex((item) => item.id === id);
  if (at < 0) throw resourceMissing('object', id, param, { inPath: false });
  return at;
}

/** Whether the object's time of creation lies in the `created` filter. */
export function isCreatedWithin(created: number, params: Params): boolean {
  const exact = params.integer('created');
  if (exact !== undefined) return created === exact;
  const range = params.child('created');
  const [gt, gte, lt, lte] = ['gt', 'gte', 'lt', 'lte'].map((name) => range.integer(name));
  return (
    (gt === undefined || created > gt) &&
    (gte === undefined || created >= gte) &&
    (lt === undefined || created < lt) &&
    (lte === undefined || created <= lte)
  );
}
