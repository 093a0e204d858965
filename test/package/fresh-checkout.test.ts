/** `npm start` in a checkout that was never built: what a newcomer types first. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(__dirname, '../..');
const SOURCES = ['constructs', 'runtime', 'stacks', 'test', 'package.json', 'tsconfig.json', 'cdk.json'];

it('runs without a build before it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'chargeonce-checkout-'));
  try {
    for (const name of SOURCES) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const { status, stdout, stderr } = spawnSync(
      'npm',
      ['start', '--silent', '--', '--events', '5', '--faults', 'none', '--json'],
      { cwd: folder, encoding: 'utf8', timeout: 100_000 },
    );
    expect(status, stderr).toBe(0);
    const each = { charged: 4, doubleCharged: 0, lost: 0 };
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: 'pass',
      sources: [
        { source: 'kinesis', ...each },
        { source: 'event-hubs', ...each },
      ],
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
