/** The options of `chargeonce size lease-table`: what the table has to carry, or what is wrong with them. */
import type { VerbContext } from './verb';

export const DEFAULT_LEASE_SECONDS = 10;
/** What `leaseDuration` of the construct allows. */
export const MIN_LEASE_SECONDS = 5;
export const MAX_LEASE_SECONDS = 60;
/** Of shards and workers: more is a slip of the finger. */
const MOST = 1_000_000;
const ALLOWED = `allowed: a whole number, 1 to ${MOST}`;

export interface SizedLoad {
  readonly shards: number;
  readonly workers: number;
  readonly leaseSeconds: number;
}

export function leaseTableLoad(values: VerbContext['values'], positional: string | undefined): SizedLoad | string {
  const leaseSeconds = readSeconds(values['lease-duration']);
  if (typeof leaseSeconds === 'string') return leaseSeconds;
  const shards = readShards(values, positional);
  if (typeof shards === 'string') return shards;
  const workers = values.workers === undefined ? Math.max(2, Math.ceil(shards / 10)) : wholeNumber(values.workers);
  if (workers === undefined) return `--workers: received ${JSON.stringify(values.workers)}; ${ALLOWED}`;
  return { shards, workers, leaseSeconds };
}

/** One number under three names, since all of them are tried. */
function readShards(values: VerbContext['values'], positional: string | undefined): number | string {
  const given = Object.entries({ '--shards': values.shards, '--max-shards': values['max-shards'], N: positional });
  const said = given.filter(([, value]) => value !== undefined);
  if (said.length > 1) {
    return `received ${said.map(([name, value]) => `${name} ${value}`).join(' and ')}: say the shards once`;
  }
  const [name, value] = said[0] ?? ['--shards', undefined];
  if (value === undefined) return `received no --shards; ${ALLOWED}. Try: chargeonce size lease-table --shards 100`;
  return wholeNumber(value) ?? `${name}: received ${JSON.stringify(value)}; ${ALLOWED}`;
}

function readSeconds(value: string | boolean | undefined): number | string {
  if (value === undefined) return DEFAULT_LEASE_SECONDS;
  const [, digits, unit] = /^(\d{1,6}(?:\.\d{1,3})?)(s|ms)?$/.exec(String(value)) ?? [];
  const seconds = unit === 'ms' ? Number(digits) / 1_000 : Number(digits ?? Number.NaN);
  if (seconds >= MIN_LEASE_SECONDS && seconds <= MAX_LEASE_SECONDS) return seconds;
  return (
    `--lease-duration: received ${JSON.stringify(value)}; allowed: ${MIN_LEASE_SECONDS}s to ${MAX_LEASE_SECONDS}s, ` +
    'as in 20s, 20 or 20000ms'
  );
}

function wholeNumber(value: string | boolean): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : 0;
  return number >= 1 && number <= MOST ? number : undefined;
}
