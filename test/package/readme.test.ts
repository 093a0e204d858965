/** The documents do not lie: their code compiles, their tables name what exists, their links and files are there. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json';
import { ENVIRONMENT } from '../../runtime/contract';
import { verbs } from '../../runtime/ops/verbs';
import { FAULT_NAMES } from '../../stacks/local/faults/names';
import { HELP } from '../../stacks/local/flags';
import { kustoProblems } from '../azure/kusto/check';
import { readSources } from '../unit/structure/sources';
import { codeBlocks, compileBlocks, documents, tableNames } from './documents';
import { runBlock } from './run-block';

const ROOT = join(__dirname, '../..');
const all = documents();
const readme = all.get('README.md')!;

/** Names in capitals that are nobody's setting of ours. */
const FOREIGN = ['CDK_DOCKER', 'TRIM_HORIZON', 'AT_START', 'NOT_CHARGED'];

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
    for (const cloud of ['aws', 'azure']) {
      expect(blocks.filter(({ code }) => code.includes(`'chargeonce/${cloud}'`)).length).toBeGreaterThanOrEqual(2);
    }
    expect(errors.filter((error) => !error.startsWith('planted.md'))).toEqual([]);
  });

  it.each(blocks)('of $at runs', async ({ code }) => {
    await runBlock(code);
  });

  it.each([
    ["import { SpendCap } from 'chargeonce/aws';\nSpendCap.perPeriod({ dollars: 1 });", 'currency is "dollars"'],
    ["import { CheckpointStore } from 'chargeonce/azure';\nnew CheckpointStore('c', { sku: 'GRS' });", 'sku is "GRS"'],
  ])('would be caught when one did not run', async (code, message) => {
    await expect(runBlock(code)).rejects.toThrow(message);
  });

  it('would be caught when they did not', () => {
    expect(errors).toEqual([
      "planted.md:2 +1: Module '\"chargeonce/aws\"' has no exported member 'Nothing'.",
      "planted.md:2 +2: Type 'SpendCap' is not assignable to type 'number'.",
      "planted.md:2 +2: Type 'string' is not assignable to type 'number'.",
    ]);
  });
});

it('docs/configuration.md lists every setting of the runtime, and no other', () => {
  const only = new Set<string>([ENVIRONMENT.CHARGEONCE_CRASH_AT]);
  const names = Object.keys(ENVIRONMENT).filter((name) => !only.has(name));
  expect(tableNames(all.get('docs/configuration.md')!, 'Settings').sort()).toEqual(names.sort());
});

describe('the README', () => {
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

  it('names every optional peer beside the subpath that needs it, and no other package', () => {
    const rows = readme.split('\n').filter((line) => line.startsWith(`| \`${manifest.name}`));
    const peers = rows.flatMap(
      (row) => row.split('|')[3]!.match(/@[a-z-]+\/[a-z-]+|\b(aws-cdk-lib|constructs|rhea|azurite|avsc)\b/g) ?? [],
    );
    expect([...new Set(peers)].sort()).toEqual(Object.keys(manifest.peerDependencies).sort());
  });

  it('lists every flag and fault of npm start, and no other', () => {
    const flags = (text: string) => [...new Set(text.match(/--[a-z]+/g))].filter((flag) => flag !== '--help').sort();
    const table = readme.slice(readme.indexOf('| flag of'), readme.indexOf('## How it works'));
    expect(flags(table).filter((flag) => flag !== '--silent')).toEqual(flags(HELP));
    for (const fault of FAULT_NAMES) expect(table).toContain(`\`${fault}\``);
  });

  it.each([
    ['The constructs', 'constructs/aws/index.ts'],
    ['The components', 'constructs/azure/index.ts'],
  ])('%s are those of %s, all of them', (heading, file) => {
    const index = readFileSync(join(ROOT, file), 'utf8');
    const exported = [...index.matchAll(/export \{([^}]+)\}/g)].flatMap((match) =>
      match[1]!
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '' && !name.startsWith('type ')),
    );
    expect(tableNames(readme, heading).sort()).toEqual(exported.sort());
  });
});

/** What GitHub makes of a heading. */
const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
const anchorsOf = (text: string) => [...text.matchAll(/^#+ (.+)$/gm)].map((match) => anchor(match[1]!));

/** Links of a document that lead nowhere: a file that is not there, or a heading that it has not. */
function brokenLinks(path: string, text: string): string[] {
  const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  return links
    .filter(([, file, heading]) => {
      const target = file ? normalize(join(dirname(path), file)) : path;
      if (!existsSync(join(ROOT, target))) return true;
      return heading !== undefined && !anchorsOf(readFileSync(join(ROOT, target), 'utf8')).includes(heading);
    })
    .map(([link]) => link);
}

/** Words after `chargeonce` that are no verb. */
function unknownVerbs(text: string): string[] {
  const known = new Set<string>([...verbs().map((verb) => verb.name), '--help']);
  const typed = [...text.matchAll(/`(?:npx )?chargeonce ([a-z-]+)|^npx chargeonce ([a-z-]+)/gm)];
  const told = [...text.matchAll(/`\["([a-z-]+)"/g)];
  return [...typed.map((match) => match[1] ?? match[2]!), ...told.map((match) => match[1]!)].filter(
    (verb) => !known.has(verb),
  );
}

/** Text that people are told to search the log for, and that no line of the runtime has. */
function unknownLogLines(text: string, sources: string): string[] {
  const searched = [...text.matchAll(/--filter-pattern '"([^"]+)"'/g), ...text.matchAll(/\bLog has "([^"]+)"/g)];
  return searched.map((match) => match[1]!).filter((line) => !sources.includes(line));
}

describe('every document', () => {
  const runtime = [...readSources()].filter(([path]) => path.startsWith('runtime/')).map(([, text]) => text);

  it.each([...all])('%s links to files and headings that are there', (path, text) => {
    expect(brokenLinks(path, text)).toEqual([]);
  });

  it.each([...all])('%s names verbs that are there', (_, text) => {
    expect(unknownVerbs(text)).toEqual([]);
  });

  it.each([...all])('%s searches the log for lines that are written', (_, text) => {
    expect(unknownLogLines(text, runtime.join('\n'))).toEqual([]);
  });

  it.each([...all].flatMap(([path, text]) => codeBlocks(path, text, 'kusto')))(
    '$at is a query of Kusto',
    ({ code }) => {
      expect(kustoProblems(code)).toEqual([]);
    },
  );

  it.each([...all])('%s names settings that are there', (_, text) => {
    const settings = new Set<string>([...Object.keys(ENVIRONMENT), ...FOREIGN]);
    const named = [...text.matchAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]+)[`=]/g)].map((match) => match[1]!);
    expect(named.filter((name) => !settings.has(name))).toEqual([]);
  });

  it('would be caught otherwise', () => {
    const page = '[a](gone.md) [b](concepts.md#nothing) [c](concepts.md#words) `chargeonce fly` `["swim"]`';
    expect(brokenLinks('docs/page.md', page)).toEqual(['](gone.md)', '](concepts.md#nothing)']);
    expect(unknownVerbs(page)).toEqual(['fly', 'swim']);
    const searches = `--filter-pattern '"a" --filter-pattern '"no such line"' | where Log has "nor this one"`;
    expect(unknownLogLines(searches, runtime.join())).toEqual(['no such line', 'nor this one']);
    expect(kustoProblems('ContainerAppConsoleLogs | where Lag > 1')).not.toEqual([]);
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
