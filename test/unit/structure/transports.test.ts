/** Another transport is another folder under `sources`: the rooms that move money name none. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Sources, sourcesOf } from './sources';

const ROOT = join(__dirname, '../../..');
const ROOMS = /^runtime\/((processor|ledger|stripe|checkpoint|decode)\/.*|(pipeline|charging|reconcile)\.ts)$/;
const TRANSPORT = /kinesis|event.?hubs?\b|service.?bus|dynamo|amqp|azurite|\bshards?\b|\b(check)?blobs?\b/i;

/** All that is written in the runtime, SQL too. */
function runtimeTexts(): Sources {
  const names = readdirSync(join(ROOT, 'runtime'), { recursive: true, encoding: 'utf8' }).map(
    (name) => `runtime/${name}`,
  );
  const files = names.filter((name) => ROOMS.test(name) && /\.(ts|sql)$/.test(name));
  return new Map(files.map((name) => [name, readFileSync(join(ROOT, name), 'utf8')]));
}

function namedTransports(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) =>
    text.split('\n').flatMap((line, index) => {
      const name = ROOMS.test(file) ? TRANSPORT.exec(line)?.[0] : undefined;
      return name === undefined ? [] : [`${file}:${index + 1} names ${name}`];
    }),
  );
}

describe('the rooms that move money', () => {
  it('name no transport, not even in a comment', () => {
    const texts = runtimeTexts();
    expect(texts.size).toBeGreaterThan(60);
    expect(namedTransports(texts)).toEqual([]);
  });

  it.each([
    ['runtime/processor/a.ts', '/** Of a Kinesis stream. */', 'runtime/processor/a.ts:1 names Kinesis'],
    [
      'runtime/ledger/queries/a.sql',
      "-- source\nWHERE source = 'event-hubs'",
      'runtime/ledger/queries/a.sql:2 names event-hubs',
    ],
    ['runtime/stripe/a.ts', 'const queue = serviceBus;', 'runtime/stripe/a.ts:1 names serviceBus'],
    ['runtime/pipeline.ts', "import { openEventHubs } from './open';", 'runtime/pipeline.ts:1 names EventHubs'],
  ])('the rule catches what is planted in %s', (file, text, found) => {
    expect(namedTransports(sourcesOf({ [file]: text }))).toEqual([found]);
  });

  it('and lets the sources name theirs', () => {
    expect(
      namedTransports(sourcesOf({ 'runtime/sources/kinesis/a.ts': 'kinesis', 'runtime/open-source.ts': 'kinesis' })),
    ).toEqual([]);
  });
});
