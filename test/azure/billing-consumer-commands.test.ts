/** What a shell makes of the command lines that a deploy prints. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { container, GROUP, runConsumer } from './consumer-program';
import { SUBSCRIPTION } from './mock-azure';
import { knownValue } from './mocks';

const TEMPLATE = '{"containers": []}';

/** Runs the line in a real shell in which `az` only notes what it was given and, of a file, what is in it. */
function callsOfAz(line: string): { args: string[]; read: string }[] {
  const folder = mkdtempSync(join(tmpdir(), 'az-'));
  const az = `az() {
  call=$(for each in "$@"; do printf '%s\\037' "$each"; done)
  for each in "$@"; do [ "$each" = /dev/stdin ] && call="$call$(cat)"; done
  printf '%s\\036' "$call" >> "${folder}/$3"
  printf '%s' '${TEMPLATE}'
}`;
  try {
    execFileSync('sh', ['-eu', '-c', `${az}\n${line}`], { encoding: 'utf8', stdio: 'pipe' });
    return ['show', 'start'].flatMap((verb) => {
      try {
        const calls = readFileSync(join(folder, verb), 'utf8').split('\x1e').slice(0, -1);
        return calls.map((call) => ({ args: call.split('\x1f').slice(0, -1), read: call.split('\x1f').at(-1) ?? '' }));
      } catch {
        return [];
      }
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const job = (name: string) => ['--subscription', SUBSCRIPTION, '--resource-group', GROUP, '--name', name];

describe('the ops command', () => {
  it('reads the job as it is now and starts it with other arguments: what is sent replaces all of its template', async () => {
    const run = await runConsumer();
    const line = await knownValue(run.result.opsCommand);
    const name = String(run.named('charges-ops').inputs.jobName);
    const [show, start, ...more] = callsOfAz(line ?? '');
    expect(more).toEqual([]);
    expect(show?.args).toEqual([
      ...['containerapp', 'job', 'show', ...job(name), '--query'],
      '{containers: [properties.template.containers[0].{name: name, image: image, env: env, ' +
        "resources: {cpu: resources.cpu, memory: resources.memory}, args: ['--help']}]}",
      ...['--output', 'json'],
    ]);
    expect(start?.args).toEqual([
      ...['containerapp', 'job', 'start', ...job(name), '--yaml', '/dev/stdin'],
      ...['--query', 'name', '--output', 'tsv'],
    ]);
    expect(start?.read).toBe(TEMPLATE);
  });

  it('finds a resource group whose name has parentheses, which a shell would take for its own', async () => {
    const resourceGroupName = 'billing(eu)';
    const run = await runConsumer((args) => ({ ...args, resourceGroupName }));
    const calls = callsOfAz((await knownValue(run.result.opsCommand)) ?? '');
    expect(calls.map(({ args }) => args[args.indexOf('--resource-group') + 1])).toEqual(['billing(eu)', 'billing(eu)']);
  });

  it('has no secret in it, and no value of a setting', async () => {
    const run = await runConsumer((args) => ({ ...args, environment: { LOG_LEVEL: 'debug' } }));
    expect(await knownValue(run.result.opsCommand)).not.toMatch(/debug|stripe|PG/);
  });

  it('is one line, not known before the resource group’s subscription is', async () => {
    const run = await runConsumer(undefined, { preview: true });
    expect(await knownValue(run.result.opsCommand)).toBeUndefined();
    expect(await knownValue((await runConsumer()).result.opsCommand)).not.toContain('\n');
  });
});

describe('the command for its output', () => {
  it('follows the newest execution', async () => {
    const run = await runConsumer();
    const name = String(run.named('charges-ops').inputs.jobName);
    const line = await knownValue(run.result.opsLogsCommand);
    const args = ['containerapp', 'job', 'logs', 'show', ...job(name), '--container', 'ops'];
    expect(line).toBe(`az ${args.join(' ')} --tail 300 --follow true`);
    expect(container(run, 'ops').name).toBe('ops');
  });
});

describe('the migrate command', () => {
  it('starts the job as it is declared', async () => {
    const run = await runConsumer((args) => ({ ...args, migrations: 'manual' }));
    const name = String(run.named('charges-migrate').inputs.jobName);
    const calls = callsOfAz((await knownValue(run.result.migrateCommand!)) ?? '');
    const args = ['containerapp', 'job', 'start', ...job(name), '--query', 'name', '--output', 'tsv'];
    expect(calls).toEqual([{ args, read: '' }]);
  });
});
