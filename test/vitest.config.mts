import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

interface SuiteOptions {
  readonly serial?: boolean;
  readonly postgres?: boolean;
  readonly timeoutMs?: number;
  /** Files that run once before the suite. */
  readonly before?: readonly string[];
}

/** One project a suite; suites run one after another, two files at a time, or one where the server is restarted. */
const suite = (name: string, options: SuiteOptions = {}) => ({
  test: {
    name,
    root: new URL('..', import.meta.url).pathname,
    include: [`test/${name}/**/*.test.ts`],
    environment: 'node' as const,
    pool: 'forks' as const,
    fileParallelism: !options.serial,
    testTimeout: options.timeoutMs ?? 10_000,
    hookTimeout: 60_000,
    // Two libraries print advice at every start, which would bury what the tests say.
    env: { JSII_DEPRECATED: 'quiet', AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
    globalSetup: [...(options.postgres ? ['test/support/postgres-global.ts'] : []), ...(options.before ?? [])],
  },
});

/** Files of half a minute and more: begun last, one of them would run alone at the end of its suite. */
const LONG = [
  'faults/local-run',
  'faults/rollout',
  'faults/alarms',
  'faults/crash-points',
  'package/cdk-versions',
  'package/jest',
  'package/types',
];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const long = ({ moduleId }: TestSpecification) =>
      LONG.findIndex((each) => moduleId.endsWith(`/test/${each}.test.ts`));
    const first = files.filter((file) => long(file) >= 0).sort((a, b) => long(a) - long(b));
    return [...first, ...(await super.sort(files.filter((file) => long(file) < 0)))];
  }
}

export default defineConfig({
  test: {
    maxWorkers: 2,
    sequence: { sequencer: LongFirst },
    projects: [
      suite('unit'),
      suite('emulators', { timeoutMs: 30_000 }),
      suite('aws', { timeoutMs: 60_000 }),
      suite('azure', { timeoutMs: 60_000 }),
      suite('ledger', { serial: true, postgres: true, timeoutMs: 60_000 }),
      suite('sources', { timeoutMs: 60_000 }),
      suite('simulator', { serial: true, postgres: true, timeoutMs: 60_000 }),
      suite('bugs', { postgres: true, timeoutMs: 60_000 }),
      suite('faults', { postgres: true, timeoutMs: 120_000 }),
      suite('deploy', { timeoutMs: 120_000 }),
      suite('deploy-azure', { timeoutMs: 300_000 }),
      suite('package', { timeoutMs: 120_000, before: ['test/package/pack-once.ts'] }),
    ],
  },
});
