import { describe, expect, test } from 'vitest';
import { createLog, type LogOptions } from '../../../runtime/host';

function recorded(level: LogOptions['level'] = 'debug') {
  const lines: string[] = [];
  const log = createLog({ level, destination: { write: (line) => lines.push(line) } });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? 'null') as Record<string, never> };
}

describe('a log line', () => {
  test('is one JSON object with an ISO time, the level as a word, and the fields', () => {
    const { log, lines, last } = recorded();
    log.info({ customer: 'c1', fence: 12345678901234567890n, body: Buffer.from('abc') }, 'charged');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\{.*\}\n$/);
    expect(last()).toMatchObject({
      level: 'info',
      msg: 'charged',
      customer: 'c1',
      fence: '12345678901234567890',
      body: '3 bytes',
    });
    expect(String(last().time)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test('below the level is not written', () => {
    const { log, lines } = recorded('warn');
    log.info({}, 'no');
    log.debug({}, 'no');
    log.warn({}, 'yes');
    log.error({}, 'yes');
    expect(lines).toHaveLength(2);
  });

  test('takes cycles, depth and endless lists', () => {
    const { log, last } = recorded();
    const loop: Record<string, unknown> = { list: Array.from({ length: 10_000 }, (_, index) => index) };
    loop.self = loop;
    log.info({ loop, long: 'x'.repeat(100_000) }, 'survives');
    expect(JSON.stringify(last()).length).toBeLessThan(20_000);
  });

  test('keeps what helps of an error, with its cause', () => {
    const { log, last } = recorded();
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', config: { headers: 'big' } });
    log.error({ err: new TypeError('no ledger', { cause }) }, 'failed');
    expect(last().err).toMatchObject({
      type: 'TypeError',
      message: 'no ledger',
      cause: { message: 'refused', code: 'ECONNREFUSED' },
    });
    expect(JSON.stringify(last())).not.toContain('headers');
  });
});

describe('no secret gets into a line', () => {
  const KEY = 'sk_live_51HGeheim';
  const URL_WITH_PASSWORD = 'postgres://worker:geheim@db/ledger';

  test.each<[string, object, string]>([
    ['a message', {}, `call with ${KEY}`],
    ['a text field', { note: `call with ${KEY}` }, 'm'],
    ['an address', { url: URL_WITH_PASSWORD }, 'm'],
    ['a URL object', { url: new URL(URL_WITH_PASSWORD) }, 'm'],
    ['a member called password', { database: { password: 'geheim' } }, 'm'],
    ['a member called apiKey', { stripe: { apiKey: 'geheim' } }, 'm'],
    ['a member called authorization', { headers: { Authorization: 'Basic geheim' } }, 'm'],
    ['a nested list', { list: [{ deep: [URL_WITH_PASSWORD] }] }, 'm'],
    ['a map', { map: new Map([['k', KEY]]) }, 'm'],
    ['the message of an error', { err: new Error(`401 for ${KEY}`) }, 'm'],
    ['the cause of an error', { err: new Error('x', { cause: new Error(URL_WITH_PASSWORD) }) }, 'm'],
    ['errors of an error', { err: new AggregateError([new Error(KEY)]) }, 'm'],
    ['an error given as the fields', new Error(KEY), 'm'],
  ])('%s', (_where, fields, message) => {
    const { log, lines } = recorded();
    log.error(fields, message);
    expect(lines[0]).not.toMatch(/geheim/i);
    expect(lines[0]).toContain('***');
  });
});
