import { describe, expect, test } from 'vitest';
import { LedgerUnavailable, SchemaTooNew, SchemaTooOld } from '../../../runtime/ledger/errors';
import { awaitSchema } from '../../../runtime/ops/await-schema';
import { FakeHost } from '../../support/fake-host';
import { KeptLog } from '../../support/quiet';

function start(checkSchema: () => Promise<string>, makesLogin = false) {
  const host = new FakeHost();
  const log = new KeptLog();
  const controller = new AbortController();
  const reasons: string[] = [];
  const waiting = (reason: string) => reasons.push(reason);
  const wait = { migrateCommand: 'make migrate', makesLogin, host, log, waiting, signal: controller.signal };
  const ended = awaitSchema(checkSchema, wait).catch((error: unknown) => error);
  return { host, log, reasons, ended, stop: () => controller.abort() };
}

describe('waiting for the schema', () => {
  test('says what to run now and every minute, and ends when the schema is new enough', async () => {
    let migrated = false;
    const { host, log, reasons, ended } = start(async () => {
      if (!migrated) throw new SchemaTooOld(3, 9);
      return 'ledger';
    });
    const words = "The database has the ledger's schema at version 3; this runtime needs version 9. Run: make migrate";
    await host.settle();
    expect(log.matching(words)).toHaveLength(1);
    await host.advance(59_000);
    expect(log.matching(words)).toHaveLength(1);
    await host.advance(240_000);
    expect(log.matching(words).map(({ level }) => level)).toEqual(Array(5).fill('warn'));
    expect(new Set(reasons)).toEqual(new Set([words]));
    migrated = true;
    await host.advance(2_000);
    expect(await ended).toBe('ledger');
    expect(log.has(/new enough now/)).toBe(true);
    expect(reasons.at(-1)).not.toBe(words);
  });

  test('is for a refused login too, where the migration makes it, and for no other silence', async () => {
    const refused = new LedgerUnavailable('readMeta', 60_000, new Error('no'), true, 'Run: make migrate');
    let made = false;
    const { host, log, reasons, ended } = start(async () => {
      if (!made) throw refused;
      return 'ledger';
    }, true);
    await host.settle();
    expect(reasons).toEqual([refused.message]);
    expect(log.matching('Run: make migrate')).toHaveLength(1);
    made = true;
    await host.advance(2_000);
    expect(await ended).toBe('ledger');
    expect(await start(() => Promise.reject(refused)).ended).toBe(refused);
    const silent = new LedgerUnavailable('readMeta', 60_000, new Error('gone'));
    expect(await start(() => Promise.reject(silent), true).ended).toBe(silent);
  });

  test('is no waiting at all where the schema is right', async () => {
    const { host, log, reasons, ended } = start(async () => 'ledger');
    expect(await ended).toBe('ledger');
    expect([log.lines, reasons, host.sleeping]).toEqual([[], [], 0]);
  });

  test('ends at once at a stop, at a schema that is too new, and at any other error', async () => {
    const stopped = start(() => Promise.reject(new SchemaTooOld(undefined, 9)));
    await stopped.host.settle();
    stopped.stop();
    expect(await stopped.ended).toBeInstanceOf(SchemaTooOld);
    expect(await start(() => Promise.reject(new SchemaTooNew(9, 9, 3))).ended).toBeInstanceOf(SchemaTooNew);
    expect(await start(() => Promise.reject(new Error('gone'))).ended).toEqual(new Error('gone'));
  });
});
