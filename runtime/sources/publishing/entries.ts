/** A line on its way, and the customer that it belongs to. */
import { createHash } from 'node:crypto';

/** One line on its way. */
export interface Entry {
  /** From 1. */
  readonly line: number;
  readonly data: Uint8Array;
  readonly partitionKey: string;
}

const CUSTOMER_FIELDS = ['customer_id', 'customerId', 'account_id', 'accountId'];
const MAX_KEY_CHARACTERS = 256;

/**
 * The customer, so that events of one customer stay in one partition; for a line that names none, or is no event
 * at all, a hash of the line, so that the same line always goes to the same partition.
 */
export function partitionKeyOf(data: Uint8Array): string {
  const body = parsed(data);
  if (typeof body === 'object' && body !== null) {
    for (const field of CUSTOMER_FIELDS) {
      const value: unknown = Object.hasOwn(body, field) ? Reflect.get(body, field) : undefined;
      if (typeof value === 'string' && value !== '' && [...value].length <= MAX_KEY_CHARACTERS) return value;
    }
  }
  return createHash('sha256').update(data).digest('hex');
}

function parsed(data: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8'));
  } catch {
    return undefined;
  }
}
