import { describe, expect, it } from 'vitest';
import { readSources, sourcesOf } from './sources';
import { deadFiles, leftovers, longFiles, longFunctions } from './tidy';

/** Files that are started or named from outside, not imported. */
const ENTRY_POINTS = [
  'bench/azure-import.ts',
  'bench/charges.ts',
  'bench/event-hubs-broker.ts',
  'bench/synth.ts',
  'constructs/aws/index.ts',
  'constructs/azure/index.ts',
  'constructs/azure/policy/index.ts',
  'docs/generate.ts',
  'runtime/event-hubs.ts',
  'runtime/image/build.ts',
  'runtime/index.ts',
  'runtime/kinesis.ts',
  'runtime/ledger/generate.ts',
  'runtime/main.ts',
  'stacks/aws/app.ts',
  'stacks/aws/composed.ts',
  'stacks/azure/composed.ts',
  'stacks/azure/index.ts',
  'stacks/local/main.ts',
  'test/deploy-azure/programs/altered/index.ts',
  'test/deploy-azure/programs/plain/index.ts',
  'test/emulators/index.ts',
  'test/package/pack-once.ts',
  'test/run.ts',
  'test/support/postgres-global.ts',
  'test/support/running-files-reporter.mts',
  'test/vitest.config.mts',
];

describe('the sources', { timeout: 60_000 }, () => {
  const sources = readSources();

  it('have no file above 500 lines', () => {
    expect(longFiles(sources)).toEqual([]);
  });

  it('have no function above 70 lines', () => {
    expect(longFunctions(sources)).toEqual([]);
  });

  it('have no unfinished work', () => {
    expect(leftovers(sources)).toEqual([]);
  });

  it('have no dead file', () => {
    expect(deadFiles(sources, ENTRY_POINTS)).toEqual([]);
  });
});

describe('the checks catch what is planted', () => {
  const lines = (count: number) => 'x;\n'.repeat(count);

  it('a long file', () => {
    expect(longFiles(sourcesOf({ 'a.ts': lines(501), 'b.ts': lines(500) }))).toEqual(['a.ts has 501 lines']);
  });

  it('a long function, method, arrow, test', () => {
    const body = `{\n${lines(69)}}`;
    const planted = {
      'a.ts': `function f() ${body}`,
      'b.ts': `class C {\n  m() ${body}\n}`,
      'c.ts': `const f = () => ${body};`,
      'd.test.ts': `describe('d', () => {\n  it('x', () => ${body});\n});`,
      'short.ts': `function f() {\n${lines(68)}}`,
    };
    expect(longFunctions(sourcesOf(planted))).toEqual([
      'a.ts:1 has 71 lines',
      'b.ts:2 has 71 lines',
      'c.ts:1 has 71 lines',
      'd.test.ts:2 has 71 lines',
    ]);
  });

  it.each(['TO' + 'DO', 'FIX' + 'ME'])('a %s', (word) => {
    expect(leftovers(sourcesOf({ 'a.ts': `x;\n// ${word}: later\n` }))).toEqual(['a.ts:2']);
  });

  it('a dead file, a file that only a test needs, an entry point that is gone', () => {
    const planted = {
      'runtime/main.ts': "import './used';",
      'runtime/used.ts': '',
      'runtime/dead.ts': '',
      'runtime/only-tested.ts': '',
      'test/unit/a.test.ts': "import '../../runtime/only-tested'; import '../support/help';",
      'test/support/help.ts': '',
    };
    expect(deadFiles(sourcesOf(planted), ['runtime/main.ts', 'runtime/gone.ts'])).toEqual([
      'nothing imports runtime/dead.ts',
      'nothing imports runtime/only-tested.ts',
      'there is no entry point runtime/gone.ts',
    ]);
  });
});
