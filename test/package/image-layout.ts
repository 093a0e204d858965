/** A Dockerfile as far as ours goes, and the files it makes. */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

export interface Instruction {
  readonly name: string;
  readonly rest: string;
}

export function instructions(dockerfile: string): Instruction[] {
  return readFileSync(dockerfile, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name = '', ...rest] = line.split(' ');
      return { name, rest: rest.join(' ') };
    });
}

export interface Layout {
  /** Stands for the image's root. */
  readonly root: string;
  /** The entry point's arguments, with paths under `root`. */
  readonly entrypoint: readonly string[];
  readonly workdir: string;
}

/** Copies what the Dockerfile copies, and takes away every right to write. */
export function layOut(folder: string): Layout {
  const all = instructions(join(folder, 'Dockerfile'));
  const root = mkdtempSync(join(tmpdir(), 'chargeonce-image-'));
  const copied: string[] = [];
  for (const { rest } of all.filter(({ name }) => name === 'COPY')) {
    const names = rest.split(' ');
    const target = join(root, names.pop() ?? '');
    mkdirSync(target, { recursive: true });
    for (const name of names) {
      copyFileSync(join(folder, name), join(target, basename(name)));
      copied.push(join(target, basename(name)));
    }
  }
  const workdir = join(root, rest(all, 'WORKDIR'));
  for (const file of copied) chmodSync(file, 0o444);
  for (const directory of [workdir, root]) chmodSync(directory, 0o555);
  const entrypoint = (JSON.parse(rest(all, 'ENTRYPOINT')) as string[]).map((part) =>
    part.startsWith('/') ? join(root, part) : part,
  );
  return { root, entrypoint, workdir };
}

function rest(all: readonly Instruction[], name: string): string {
  const found = all.find((each) => each.name === name);
  if (found === undefined) throw new Error(`The Dockerfile has no ${name}`);
  return found.rest;
}
