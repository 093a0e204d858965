/** The documents do not lie: their code compiles, their tables name what exists, their links and files are there. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json';
import { ENVIRONMENT } from '../../runtime/contract';
import { verbs } from '../../runtime/ops/verbs';
import { FAULT_NAMES } from '../../stacks/local/faults/names';
import { HELP } from '../../stacks/local/flags';
import { codeBlocks, compileBlocks, documents, tableNames } from './documents';

const ROOT = join(__dirname, '../..');
const all = documents();
const readme = all.get('README.md')!;

/** A document with two mistakes in its block. */
const PLANTED = [
  'words',
  '```ts',
  "import { SpendCap, Nothing } from 'chargeonce/aws';",
  "export const cap: number = SpendCap.perPeriod({ usd: '1' });",
  '```',
].join('\n');

describe('code blocks', () => {
  const blocks = [...all].flatMap(([path, text]) => codeBlocks(path, text, 'ts'));
  let errors: string[];
  beforeAll(() => {
    errors = compileBlocks([...blocks, ...codeBlocks('planted.md', PLANTED, 'ts')]);
  }, 180_000);

  it('compile, each as a module of its own', () => {
    expect(blocks.length).toBeGreaterThanOrEqual(2);
    expect(errors.filter((error) => !error.startsWith('planted.md'))).toEqual([]);
  });

  it('would be caught when they did not', () => {
    expect(errors).toEqual([
      "planted.md:2 +1: Module '\"chargeonce/aws\"' has no exported member 'Nothing'.",
      "planted.md:2 +2: Type 'SpendCap' is not assignable to type 'number'.",
      "planted.md:2 +2: Type 'string' is not assignable to type 'number'.",
    ]);
  });
});

describe('the README', () => {
  it('lists every setting of the runtime, and no other', () => {
    const only = new Set<string>([ENVIRONMENT.CHARGEONCE_CRASH_AT]);
    const names = Object.keys(ENVIRONMENT).filter((name) => !only.has(name));
    expect(tableNames(readme, 'Configuration of the runtime').sort()).toEqual(names.sort());
  });

  it('lists every verb, and no other', () => {
    const named = tableNames(readme, 'The command line').map((name) => name.split(' ')[0]);
    expect(named).toEqual(verbs().map((verb) => verb.name));
  });

  it('lists every subpath that can be imported, and no other', () => {
    const subpaths = Object.keys(manifest.exports).filter((path) => path !== './package.json');
    expect(tableNames(readme, 'What can be imported')).toEqual(
      subpaths.map((path) => path.replace('.', manifest.name)),
    );
  });

  it('lists every flag and fault of npm start, and no other', () => {
    const flags = (text: string) => [...new Set(text.match(/--[a-z]+/g))].filter((flag) => flag !== '--help').sort();
    const table = readme.slice(readme.indexOf('| flag of'), readme.indexOf('## How it works'));
    expect(flags(table).filter((flag) => flag !== '--silent')).toEqual(flags(HELP));
    for (const fault of FAULT_NAMES) expect(table).toContain(`\`${fault}\``);
  });

  it('names constructs that exist, and all of them', () => {
    const index = readFileSync(join(ROOT, 'constructs/aws/index.ts'), 'utf8');
    const exported = [...index.matchAll(/export \{([^}]+)\}/g)].flatMap((match) =>
      match[1]!
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '' && !name.startsWith('type ')),
    );
    expect(tableNames(readme, 'The constructs').sort()).toEqual(exported.sort());
  });
});

describe('every document', () => {
  it.each([...all])('%s links to files that are there', (path, text) => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map((match) => match[1]!);
    expect(links.filter((link) => !existsSync(join(ROOT, normalize(join(dirname(path), link)))))).toEqual([]);
  });

  it.each([...all])('%s names npm scripts that are there', (_, text) => {
    const scripts = [...text.matchAll(/npm run ([a-z:]+)/g)].map((match) => match[1]!);
    expect(scripts.filter((script) => !(script in manifest.scripts))).toEqual([]);
  });

  it.each([...all])('%s names paths that are there', (_, text) => {
    const paths = [...text.matchAll(/`((?:runtime|constructs|stacks|test|docs)\/[\w./-]+)`/g)].map((each) => each[1]!);
    const concrete = paths.filter((each) => !each.includes('NN_'));
    expect(concrete.filter((each) => !existsSync(join(ROOT, each)))).toEqual([]);
  });
});
