import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createMetrics, type HealthServer, startHealthServer } from '../../../runtime/host';

const open: HealthServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function start(state: { live?: string; ready?: string } = {}) {
  const server = await startHealthServer({
    host: '127.0.0.1',
    port: 0,
    live: () => state.live,
    ready: () => state.ready,
    metrics: createMetrics(),
  });
  open.push(server);
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
    return { status: response.status, type: response.headers.get('content-type') ?? '', body: await response.text() };
  };
  return { server, get };
}

describe('the health server', () => {
  test('says ready only when it is, and why not', async () => {
    const state: { ready?: string } = { ready: 'no leases read yet' };
    const { get } = await start(state);
    expect(await get('/readyz')).toMatchObject({ status: 503, body: 'no leases read yet\n' });
    expect(await get('/healthz')).toMatchObject({ status: 200, body: 'ok\n' });
    delete state.ready;
    expect(await get('/readyz')).toMatchObject({ status: 200, body: 'ok\n' });
  });

  test('says when it should not live', async () => {
    const { get } = await start({ live: 'never became ready' });
    expect(await get('/healthz')).toMatchObject({ status: 503, body: 'never became ready\n' });
  });

  test('serves the metrics', async () => {
    const { get } = await start();
    const { status, type, body } = await get('/metrics?x=1');
    expect(status).toBe(200);
    expect(type).toContain('text/plain; version=0.0.4');
    expect(body).toContain('chargeonce_charges_total');
  });

  test('knows nothing else', async () => {
    const { get } = await start();
    expect((await get('/')).status).toBe(404);
    expect((await get('/healthz', 'POST')).status).toBe(405);
    expect((await get('/healthz', 'HEAD')).status).toBe(200);
  });

  test('drops the request, and lives on, when the figures cannot be had', async () => {
    const server = await startHealthServer({
      host: '127.0.0.1',
      port: 0,
      live: () => undefined,
      ready: () => undefined,
      metrics: { contentType: 'text/plain', text: () => Promise.reject(new Error('no figures')) },
    });
    open.push(server);
    await expect(fetch(`http://127.0.0.1:${server.port}/metrics`)).rejects.toThrow();
    expect((await fetch(`http://127.0.0.1:${server.port}/healthz`)).status).toBe(200);
  });

  test('closes although a client holds its connection', async () => {
    const { server } = await start();
    const socket = connect(server.port, '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    const gone = new Promise((resolve) => socket.once('close', resolve));
    await server.close();
    await gone;
  });

  test('says when the port is taken', async () => {
    const { server } = await start();
    const second = startHealthServer({
      host: '127.0.0.1',
      port: server.port,
      live: () => undefined,
      ready: () => undefined,
      metrics: createMetrics(),
    });
    await expect(second).rejects.toThrow('EADDRINUSE');
  });
});
