import { describe, expect, it } from 'vitest';
import { nondeterminism } from './nondeterminism';
import { readSources, sourcesOf } from './sources';

describe('chance', { timeout: 60_000 }, () => {
  it('comes in through runtime/host only, settings through runtime/config', () => {
    expect(nondeterminism(readSources())).toEqual([]);
  });

  it.each([
    ['const t = Date.now();', 'Date.now'],
    ['const t = new Date();', 'new Date()'],
    ['const t = Date();', 'Date()'],
    ['const t = performance.now();', 'performance.now'],
    ['const r = Math.random();', 'Math.random'],
    ['setTimeout(() => {}, 5);', 'setTimeout'],
    ['const later = setInterval;', 'setInterval'],
    ["import { setTimeout as sleep } from 'node:timers/promises';", 'node:timers/promises'],
    ['const s = AbortSignal.timeout(5);', 'AbortSignal.timeout'],
    ["process.on('SIGTERM', stop);", 'process.on'],
    ['process.exit(1);', 'process.exit'],
    ['const e = process.env.HOME;', 'process.env'],
    ['const id = crypto.randomUUID();', 'randomUUID'],
    ["import { randomBytes } from 'node:crypto';", 'randomBytes'],
  ])('is caught in %s', (text, use) => {
    expect(nondeterminism(sourcesOf({ 'runtime/ops/a.ts': text }))).toContain(`runtime/ops/a.ts:1 uses ${use}`);
  });

  it.each([
    ['runtime/host/clock.ts', 'const t = Date.now();'],
    ['runtime/config/read.ts', 'const e = process.env.HOME;'],
    ['runtime/stripe/headers.ts', 'const t = Date.parse(text); const d = new Date(text);'],
    ['runtime/sources/a.ts', 'socket.setTimeout(5);'],
  ])('is not seen in %s: %s', (file, text) => {
    expect(nondeterminism(sourcesOf({ [file]: text }))).toEqual([]);
  });

  it('does not belong to config either, but for the environment', () => {
    expect(nondeterminism(sourcesOf({ 'runtime/config/a.ts': 'const t = Date.now();' }))).toHaveLength(1);
  });
});
