/** The selector filter of a consumer's link: where in the partition it starts. */
import type { StartPosition } from './event-log';

const SELECTOR = /^amqp\.annotation\.x-opt-(offset|sequence-number|enqueued-time) (>=?) '(-?\d+|@latest)'$/;

/** Undefined when the text is no selector of Event Hubs. */
export function parseSelector(text: string): StartPosition | undefined {
  const [, field, operator, value] = SELECTOR.exec(text) ?? [];
  if (field === undefined || value === undefined) return undefined;
  if (value === '@latest' && field !== 'offset') return undefined;
  return {
    field: field as StartPosition['field'],
    inclusive: operator === '>=',
    value: value === '@latest' ? value : Number(value),
  };
}

/** Filters come as described values or plain; absent: from the end, as the service does. */
export function selectorText(filter: unknown): string {
  const set = (filter ?? {}) as Record<string, unknown>;
  const found = set['apache.org:selector-filter:string'];
  if (found === undefined || found === null) return "amqp.annotation.x-opt-offset > '@latest'";
  const value = typeof found === 'object' && 'value' in found ? found.value : found;
  return String(value);
}
