/** The events of a run: made up from a seed, or the lines of a file as they are. */
import { createReadStream } from 'node:fs';
import { splitLines } from '../../runtime/sources/publishing/lines';
import type { FaultName } from './faults/names';
import { seededRandom } from './random';

export interface EventPlan {
  /** Bodies in publishing order. */
  readonly lines: readonly Uint8Array[];
  /** Of them, what each fault of the events put in. */
  readonly injected: Readonly<Partial<Record<FaultName, number>>>;
  /** How made-up events must end; absent for a file, which may hold anything. */
  readonly expected?: { readonly charged: number; readonly declined: number };
}

export interface EventOptions {
  readonly events: number;
  readonly customers: number;
  readonly seed: number;
  readonly faults: ReadonlySet<FaultName>;
}

interface MadeUp {
  readonly customer_id: string;
  readonly stripe_customer_id: string;
  readonly billing_period: string;
  readonly amount_cents: number;
  readonly currency: string;
  readonly event_id: string;
  readonly payment_method?: string;
}

/** Four fifths of the sample stack's cap: a made-up period fits into it, however many customers there are. */
const PERIOD_CENTS = 4_000_000;
const LARGEST_CENTS = 5_000;
/** Stripe's least, for usd. */
const LEAST_CENTS = 50;

/** One event in six repeats an earlier one: producers retry. */
const DUPLICATE_SHARE = 1 / 6;
const BROKEN: readonly string[] = [
  'not json at all',
  '{"customer_id":"broken-1","billing_period":"2026-10","stripe_customer_id":"cus_broken","amount_cents":12.5}',
  '{"customer_id":"broken-2","billing_period":"2026-10","stripe_customer_id":"cus_broken","amount_cents":-400}',
  '{"billing_period":"2026-10","stripe_customer_id":"cus_broken","amount_cents":400}',
  '{"customer_id":"broken-3","billing_period":"2026-10","stripe_customer_id":"cus_broken","amount_cents":9007199254740993}',
  '{"customer_id":"broken-4","billing_period":"2026-10","stripe_customer_id":"cus_broken","amount_cents":400,"currency":"xxx"}',
  '{"customer_id":"a","customer_id":"b","billing_period":"2026-10","stripe_customer_id":"cus_broken","amount_cents":400}',
];
const NOT_UTF8 = Uint8Array.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]);

export function makeEvents(options: EventOptions): EventPlan {
  const random = seededRandom(options.seed);
  const distinct = Math.max(1, Math.round(options.events * (1 - DUPLICATE_SHARE)));
  const originals = Array.from({ length: distinct }, (_, index) => original(index, options, random));
  const declined = options.faults.has('declines') ? decline(originals, random) : 0;
  const events = [...originals];
  while (events.length < options.events) {
    const again = originals[Math.floor(random() * originals.length)] as MadeUp;
    const at = Math.floor(random() * (events.length + 1));
    events.splice(at, 0, { ...again, event_id: `evt-${events.length + 1}` });
  }
  const lines: Uint8Array[] = events.map((event) => encode(event));
  const injected: Partial<Record<FaultName, number>> = {};
  if (options.faults.has('declines')) injected.declines = declined;
  if (options.faults.has('conflict')) {
    const changed = originals.slice(0, Math.min(3, originals.length));
    lines.push(...changed.map((event) => encode({ ...event, amount_cents: event.amount_cents + 111 })));
    injected.conflict = changed.length;
  }
  if (options.faults.has('malformed')) {
    const broken = [...BROKEN.map((text) => new TextEncoder().encode(text)), NOT_UTF8];
    for (const body of broken) lines.splice(Math.floor(random() * (lines.length + 1)), 0, body);
    injected.malformed = broken.length;
  }
  return { lines, injected, expected: { charged: distinct - declined, declined } };
}

function original(index: number, options: EventOptions, random: () => number): MadeUp {
  const customer = (index % options.customers) + 1;
  const largest = Math.max(LEAST_CENTS + 1, Math.min(LARGEST_CENTS, Math.floor(PERIOD_CENTS / options.customers)));
  const month = Math.floor(index / options.customers);
  const period = `${2026 - Math.floor(month / 12)}-${String(12 - (month % 12)).padStart(2, '0')}`;
  return {
    customer_id: `customer-${customer}`,
    stripe_customer_id: `cus_local${String(customer).padStart(6, '0')}`,
    billing_period: period,
    amount_cents: LEAST_CENTS + Math.floor(random() * (largest - LEAST_CENTS)),
    currency: 'usd',
    event_id: `evt-${index + 1}`,
  };
}

/** Every twentieth customer pays with a card that is refused. Answers how many events of theirs there are. */
function decline(originals: MadeUp[], random: () => number): number {
  let count = 0;
  for (let index = 0; index < originals.length; index++) {
    const event = originals[index] as MadeUp;
    if (random() >= 0.05 && index !== 4) continue;
    originals[index] = { ...event, payment_method: 'pm_card_visa_chargeDeclined' };
    count++;
  }
  return count;
}

function encode(event: MadeUp): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(event));
}

/** The longest line that is read whole; a stream takes less. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Each line's bytes as they are, without the newline; a line without bytes is no event. */
export async function readEventFile(path: string): Promise<EventPlan> {
  const lines: Uint8Array[] = [];
  for await (const line of splitLines(createReadStream(path), MAX_LINE_BYTES)) {
    if (line.byteLength > 0) lines.push(line);
  }
  return { lines, injected: {} };
}
