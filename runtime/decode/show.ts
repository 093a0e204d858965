/** Values from outside, fit for a sentence in the ledger and in logs: short, one line, valid Unicode. */
import { JsonNumber } from './json-number';

const LONGEST = 40;

const shorten = (text: string): string => {
  if (text.length <= LONGEST) return text;
  return `${[...text.slice(0, LONGEST)].slice(0, -1).join('')}…`;
};

/** Text in quotes; escapes control characters and lone surrogates, hides what looks like a card number. */
export const showText = (text: string): string =>
  JSON.stringify(shorten(text.slice(0, 4 * LONGEST).replace(/\d(?:[ -]?\d){12,18}/g, '[digits hidden]')));

/** What was received, in words. */
export function show(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (typeof value === 'string') return `the text ${showText(value)}`;
  if (value instanceof JsonNumber) return `the number ${shorten(value.text)}`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `${value}`;
}
