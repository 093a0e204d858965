/** What CDK users have: CommonJS Jest with ts-jest, on the tarball. The README's test and the first screen, as typed. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json';
import { codeBlocks } from './documents';
import { FIRST_SCREEN } from './first-screen';
import { pack, project, ROOT, tools } from './packed';

const JEST = {
  jest: '30.5.2',
  'ts-jest': '29.4.15',
  '@types/jest': '30.0.0',
  typescript: manifest.devDependencies.typescript,
};
/** As `cdk init app --language typescript` writes them. */
const TSCONFIG = {
  compilerOptions: {
    target: 'ES2022',
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    lib: ['es2022'],
    declaration: true,
    strict: true,
    noImplicitAny: true,
    strictNullChecks: true,
    noImplicitThis: true,
    alwaysStrict: true,
    experimentalDecorators: true,
    strictPropertyInitialization: true,
    skipLibCheck: true,
    types: ['node', 'jest'],
  },
};
const JEST_CONFIG = `module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  transform: { '^.+\\\\.tsx?$': 'ts-jest' },
  cacheDirectory: '<rootDir>/.jest-cache',
};
`;

interface Run {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly snapshot: { readonly added: number; readonly matched: number; readonly unmatched: number };
}

const folder = mkdtempSync(join(tmpdir(), 'chargeonce-jest-'));
let home: string;
beforeAll(async () => {
  const [packed, jest] = [await pack(), await tools('jest', JEST)];
  home = project(packed, join(folder, 'project'), Object.keys(manifest.peerDependencies));
  project(packed, home, Object.keys(JEST), jest);
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  writeFileSync(join(home, 'jest.config.js'), JEST_CONFIG);
  const [readme] = codeBlocks('README.md', readFileSync(join(ROOT, 'README.md'), 'utf8'), 'ts').filter(({ code }) =>
    code.includes('toMatchSnapshot'),
  );
  mkdirSync(join(home, 'test'));
  writeFileSync(join(home, 'test/readme.test.ts'), readme!.code);
  writeFileSync(join(home, 'test/first-screen.test.ts'), FIRST_SCREEN);
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the user's tests; with `--ci` a snapshot is compared and never written. */
function jest(...args: string[]): Run {
  const bin = join(home, 'node_modules/jest/bin/jest.js');
  const env = { PATH: process.env.PATH, HOME: folder, JSII_DEPRECATED: 'quiet' };
  const options = { cwd: home, env, encoding: 'utf8', timeout: 200_000, maxBuffer: 64 * 1024 * 1024 } as const;
  const { stdout, stderr } = spawnSync(process.execPath, [bin, '--json', '--runInBand', ...args], options);
  if (!stdout.startsWith('{')) throw new Error(`jest gave no result:\n${stderr.slice(0, 4_000)}`);
  const run = JSON.parse(stdout) as Run;
  if (!run.success && run.snapshot.unmatched === 0) throw new Error(stderr.slice(0, 4_000));
  return run;
}

describe('a user’s Jest', () => {
  it('compiles and passes the README’s test and the first screen, and writes their snapshots', () => {
    expect(jest()).toMatchObject({ success: true, numPassedTests: 2, snapshot: { added: 2, matched: 0 } });
  }, 200_000);

  it('finds the same stacks again', () => {
    expect(jest('--ci')).toMatchObject({ success: true, numPassedTests: 2, snapshot: { added: 0, matched: 2 } });
  }, 120_000);

  it('has snapshots without what differs from release to release: a hash of the image', () => {
    const snapshot = readFileSync(join(home, 'test/__snapshots__/readme.test.ts.snap'), 'utf8');
    expect(snapshot).toContain('"AWS::ECS::TaskDefinition"');
    expect(snapshot).not.toMatch(/[0-9a-f]{64}/);
  });

  it('notices when a stack is another one', () => {
    const file = join(home, 'test/__snapshots__/readme.test.ts.snap');
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, before.replace('"RetentionPeriodHours": 720', '"RetentionPeriodHours": 719'));
    expect(jest('--ci')).toMatchObject({ success: false, numPassedTests: 1, snapshot: { matched: 1, unmatched: 1 } });
  }, 120_000);
});
