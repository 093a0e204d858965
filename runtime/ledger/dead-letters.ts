/** Writing dead letters: whatever arrived, the write must not fail because of it. */
import { createHash } from 'node:crypto';
import type { DeadLetter } from '../processor/ports';
import { wholeText } from './rows';

const MOST_ROWS = 500;
const MOST_BYTES = 8 * 1024 * 1024;
/** An index entry holds about 2.7 kB; source and position share one. */
const LONGEST_KEY = 256;

/** Groups of letters that make one statement each: few enough, and small enough for one message to the server. */
export function deadLetterBatches(letters: readonly DeadLetter[]): DeadLetter[][] {
  const batches: DeadLetter[][] = [];
  let bytes = 0;
  for (const letter of letters) {
    const last = batches.at(-1);
    bytes += letter.body.byteLength;
    if (last && last.length < MOST_ROWS && bytes <= MOST_BYTES) last.push(letter);
    else {
      batches.push([letter]);
      bytes = letter.body.byteLength;
    }
  }
  return batches;
}

export function deadLetterColumns(letters: readonly DeadLetter[]): unknown[] {
  return [
    letters.map((letter) => keyText(letter.source)),
    letters.map((letter) => keyText(letter.sourcePosition)),
    letters.map((letter) => wholeText(letter.partitionKey)),
    letters.map((letter) => Buffer.from(letter.body.buffer, letter.body.byteOffset, letter.body.byteLength)),
    letters.map((letter) => wholeText(letter.reason)),
  ];
}

/** A text too long for an index entry keeps its start and gets a digest, so that two positions never become one. */
function keyText(text: string): string {
  const clean = wholeText(text);
  if (Buffer.byteLength(clean) <= LONGEST_KEY) return clean;
  return `${clean.slice(0, 64)}…sha256:${createHash('sha256').update(text).digest('hex')}`;
}
