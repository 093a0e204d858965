/**
 * `fetch` of Node.js 20 holds its signal weakly: when the garbage is collected after the headers of an answer have come, an
 * abort no longer reaches the body of a request that refuses redirects (seen with 20.20.2, not with 24.22.3). A call to
 * Stripe whose body stalls then never ends: its claim runs out, and its place among the charges at once is taken for good.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { drip, type ScriptedServer, stallAfterHeaders, startScriptedServer } from '../support/scripted-http';
import { until } from '../support/until';
import { row, stripeFor } from '../unit/stripe/fixtures';

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;
const NODE = Number(process.versions.node.split('.')[0]);
const TIMEOUT_MS = 500;

let server: ScriptedServer;
let collecting: NodeJS.Timeout;
beforeAll(async () => {
  server = await startScriptedServer();
  collecting = setInterval(collectGarbage, 50);
});
afterEach(() => server.clear());
afterAll(async () => {
  clearInterval(collecting);
  await server.stop();
});

describe.each([
  ['stalls', stallAfterHeaders],
  ['drips', drip],
] as const)('a body that %s while the garbage is collected', (_name, reply) => {
  it.each(['createIntent', 'confirmIntent', 'retrieveIntent'] as const)('%s ends as no answer', async (call) => {
    let closed = false;
    server.script((response, request) => {
      response.on('close', () => {
        closed = true;
      });
      reply(response, request);
    });
    const answer = await stripeFor(server, { timeoutMs: TIMEOUT_MS })[call](row());
    expect(answer.kind).toBe('no_answer');
    await until('the connection is closed', () => closed);
  });
});

/** As the SDK does it, without redirects. */
function textWithin(timeoutMs: number): Promise<unknown> {
  const deadline = new AbortController();
  setTimeout(() => deadline.abort(), timeoutMs);
  return fetch(server.url, { signal: deadline.signal, redirect: 'error' })
    .then((response) => response.text())
    .catch(() => undefined);
}

it('twin: the body that `fetch` itself reads is still waited for on Node.js 20 when the deadline is long over', async () => {
  server.script(stallAfterHeaders);
  let ended = false;
  const fetched = textWithin(TIMEOUT_MS).finally(() => {
    ended = true;
  });
  // Our own client, asked later and given more time, ends first in spite of as much garbage.
  await until('it was asked', () => server.seen.length === 1);
  server.script(stallAfterHeaders);
  await stripeFor(server, { timeoutMs: 3 * TIMEOUT_MS }).retrieveIntent(row());
  if (NODE === 20) expect(ended).toBe(false);
  await server.stop();
  await fetched;
  server = await startScriptedServer();
});
