/** Finds the intents of a row among all of its customer's, page by page. List is not behind; Search is. */
import type { ChargeRow, IntentView, StripeAnswer } from '../processor/ports';
import { METADATA } from './params';
import { asRecord, asText, type Expected, readIntent } from './read-intent';

/** Bounds the loop: 50,000 intents of one customer. */
const MAX_PAGES = 500;

/** One page as it was answered, or the answer that ends the search. */
export type Page = { readonly body: unknown } | { readonly answer: StripeAnswer };

interface ReadPage {
  readonly data: readonly unknown[];
  /** Id of the last entry when there are more. */
  readonly after?: string;
}

function readPage(body: unknown): ReadPage | string {
  const page = asRecord(body);
  if (page?.object !== 'list' || !Array.isArray(page.data)) return 'the answer is not a list';
  if (typeof page.has_more !== 'boolean') return 'the list does not say whether there is more';
  if (!page.has_more) return { data: page.data };
  const after = asText(asRecord(page.data.at(-1))?.id);
  return after === undefined ? 'the list has more pages but no entry to go on from' : { data: page.data, after };
}

const names = (entry: unknown, billingKey: string): boolean =>
  asRecord(asRecord(entry)?.metadata)?.[METADATA.billingKey] === billingKey;

/**
 * All intents whose metadata name the row, oldest first. A page that cannot be read ends the search with that answer:
 * half a list is no list. So does an intent of the row with another amount or customer, which a person must look at.
 */
export async function collectIntents(
  row: ChargeRow,
  billingKey: string,
  expected: Expected,
  getPage: (row: ChargeRow, after: string | undefined) => Promise<Page>,
): Promise<StripeAnswer> {
  const found: IntentView[] = [];
  const seen = new Set<string>();
  let after: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await getPage(row, after);
    if ('answer' in page) return page.answer;
    const read = readPage(page.body);
    if (typeof read === 'string') return { kind: 'wrong_shape', detail: read };
    for (const entry of read.data) {
      if (!names(entry, billingKey)) continue;
      const intent = readIntent(entry, expected);
      if ('wrong' in intent) return { kind: 'wrong_shape', detail: intent.wrong };
      if (!found.some(({ id }) => id === intent.intent.id)) found.push(intent.intent);
    }
    if (read.after === undefined) {
      // Stripe lists newest first; reversed before the stable sort, so that equal seconds keep their order.
      const oldestFirst = found.reverse().sort((a, b) => (a.created ?? 0) - (b.created ?? 0));
      return { kind: 'intents', intents: oldestFirst };
    }
    if (seen.has(read.after)) return { kind: 'wrong_shape', detail: `the list repeats itself after ${read.after}` };
    seen.add(read.after);
    after = read.after;
  }
  return {
    kind: 'no_answer',
    message: `the customer has more than ${MAX_PAGES * 100} intents: the list was not finished`,
  };
}
