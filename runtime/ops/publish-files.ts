/** The files of `chargeonce publish`: what is read, and what takes the lines that stayed behind. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import type { Undelivered } from '../sources/publishing/progress';

const WANTED = 'give a file with one event a line, or - for standard input';

/** Why the file cannot be published, in words; nothing when it can, or is standard input. */
export async function inputProblem(file: string): Promise<string | undefined> {
  if (file === '-') return undefined;
  try {
    if ((await stat(file)).isDirectory()) return `file: received ${file}, which is a folder; ${WANTED}`;
    await access(file, constants.R_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return `file: received ${file}, which does not exist; ${WANTED}`;
    return `file: received ${file}, which cannot be read (${code ?? String(error)}); ${WANTED}`;
  }
}

export interface NamedLine {
  readonly line: number;
  readonly reason: string;
}

/** Lines that could not be delivered. */
export interface LeftOver {
  /** The first ones. */
  readonly named: readonly NamedLine[];
  add(line: Undelivered): void;
  close(): void;
}

/** The report names this many lines; the file has all of them. */
const MOST_NAMED = 1_000;

/** Opens the file, if one is given, and empties it. Answers in words why it cannot be had. */
export async function openLeftOver(file: string | undefined, input: string): Promise<LeftOver | string> {
  if (file === undefined) return leftOver(undefined);
  if (await isSameFile(file, input)) {
    return `--undelivered: received ${file}, which is the file to publish and would be emptied; name another file`;
  }
  try {
    return leftOver(openSync(file, 'w'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EISDIR') return `--undelivered: received ${file}, which is a folder; name a file in it`;
    if (code === 'ENOENT') {
      return `--undelivered: received ${file}, whose folder does not exist; make it first, or name another file`;
    }
    return `--undelivered: received ${file}, which cannot be written (${code ?? String(error)}); name another file`;
  }
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  if (other === '-') return false;
  const [left, right] = await Promise.all([one, other].map((file) => stat(file).catch(() => undefined)));
  return left !== undefined && right !== undefined && left.dev === right.dev && left.ino === right.ino;
}

function leftOver(sink: number | undefined): LeftOver {
  const named: NamedLine[] = [];
  return {
    named,
    add({ line, reason, data }) {
      if (named.length < MOST_NAMED) named.push({ line, reason });
      if (sink !== undefined) writeSync(sink, Buffer.concat([data, Buffer.from('\n')]));
    },
    close() {
      if (sink !== undefined) closeSync(sink);
    },
  };
}
