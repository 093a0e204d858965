import { afterEach, describe, expect, test } from 'vitest';
import { environment } from '../config/environment';
import { type Running, runCode } from '../host/run-code';

const open: Running[] = [];
afterEach(async () => {
  for (const { child, ended } of open.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
});

/** The worker process around a pipeline that the test writes; `mark(text)` prints, `signal` is the drain's. */
function consume(pipeline: string, changes: Record<string, string> = {}): Running {
  const env = { ...environment(), HEALTH_PORT: '0', HEALTH_HOST: '127.0.0.1', ...changes };
  const running = runCode(
    `
    const { consumeVerb } = runtime('ops/consume');
    const mark = (text) => process.stdout.write('MARK ' + text + '\\n');
    const drained = (signal) => new Promise((resolve) => signal.addEventListener('abort', resolve));
    const verb = consumeVerb(async (config, { signal, crash, metrics }) => { ${pipeline} });
    verb.run({ shell: host.systemShell(), host: host.systemHost, values: {}, positionals: [] }).then(host.exitNow);
    `,
    env as Record<string, string>,
  );
  open.push(running);
  return running;
}

async function get(running: Running, path: string): Promise<{ status: number; body: string }> {
  await running.printed('"healthPort":');
  const port = /"healthPort":(\d+)/.exec(running.out())?.[1];
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: response.status, body: await response.text() };
}

const STEADY = `
  let ready = 'no leases yet';
  process.on('SIGUSR2', () => { ready = ready === undefined ? 'the ledger is down' : undefined; mark(String(ready)); });
  mark('running');
  return { done: drained(signal), notReady: () => ready };
`;

describe('the worker process', () => {
  test('answers about its health before the pipeline is there', async () => {
    const running = consume('await drained(signal); return { done: Promise.resolve(), notReady: () => undefined };');
    expect(await get(running, '/readyz')).toMatchObject({ status: 503, body: expect.stringContaining('starting') });
    expect((await get(running, '/metrics')).body).toContain('chargeonce_charges_total');
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(0);
  });

  test('is not healthy before it was ready once, and stays healthy when it is not ready any more', async () => {
    const running = consume(STEADY);
    await running.printed('MARK running');
    expect(await get(running, '/healthz')).toMatchObject({ status: 503, body: 'no leases yet\n' });
    running.child.kill('SIGUSR2');
    await running.printed('MARK undefined');
    expect((await get(running, '/readyz')).status).toBe(200);
    expect((await get(running, '/healthz')).status).toBe(200);
    running.child.kill('SIGUSR2');
    await running.printed('MARK the ledger is down');
    expect(await get(running, '/readyz')).toMatchObject({ status: 503, body: 'the ledger is down\n' });
    expect((await get(running, '/healthz')).status).toBe(200);
  });

  test('drains at SIGTERM and ends with 0, whatever is still open', async () => {
    const running = consume(`setInterval(() => {}, 1000); ${STEADY}`);
    await running.printed('MARK running');
    running.child.kill('SIGTERM');
    const { code, out } = await running.ended;
    expect(code).toBe(0);
    expect(out).toContain('"msg":"drained"');
  });

  test.each([
    [
      'cannot start',
      `throw new Error('the ledger belongs to another account');`,
      'the ledger belongs to another account',
    ],
    [
      'breaks',
      `return { done: Promise.reject(new Error('lease table gone')), notReady: () => undefined };`,
      'lease table gone',
    ],
    [
      'ends by itself',
      `return { done: Promise.resolve(), notReady: () => undefined };`,
      'although nobody asked for it',
    ],
  ])('ends with 1 when the pipeline %s', async (_how, pipeline, words) => {
    const { code, out } = await consume(pipeline).ended;
    expect(code).toBe(1);
    expect(out).toContain(words);
  });

  test('ends with 1 when its port is taken', async () => {
    const first = consume(STEADY);
    await first.printed('"healthPort":');
    const port = /"healthPort":(\d+)/.exec(first.out())?.[1] ?? '';
    const { code, out } = await consume(STEADY, { HEALTH_PORT: port }).ended;
    expect(code).toBe(1);
    expect(out).toContain('EADDRINUSE');
    expect(out).not.toContain('MARK running');
  });

  test('hands the armed crash point to the pipeline', async () => {
    const running = consume(`crash('after-save'); crash('after-confirm'); mark('survived');`, {
      CHARGEONCE_CRASH_AT: 'after-confirm',
    });
    const { signal, out } = await running.ended;
    expect(signal).toBe('SIGKILL');
    expect(out).not.toContain('survived');
  });

  test('writes the metrics as lines when asked to, the last one at the end', async () => {
    const running = consume(`metrics.count('charges', { status: 'charged' }, 3); ${STEADY}`, { METRICS_FORMAT: 'emf' });
    await running.printed('MARK running');
    running.child.kill('SIGTERM');
    const lines = (await running.ended).out.split('\n').filter((line) => line.includes('"_aws"'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ Service: 'chargeonce', Charges: 3 });
  });
});
