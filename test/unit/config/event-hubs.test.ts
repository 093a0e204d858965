import { describe, expect, test } from 'vitest';
import { describeConfig, readConfig } from '../../../runtime/config';
import { environment } from './environment';

const KEY = 'Z2VoZWltZ2VoZWlt';
const HUB_STRING = `Endpoint=sb://contoso.servicebus.windows.net/;SharedAccessKeyName=read;SharedAccessKey=${KEY}=`;
const STORAGE_STRING = `DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=${KEY}==;EndpointSuffix=core.windows.net`;
const IDENTITY = {
  SOURCE: 'event-hubs',
  EVENTHUB_NAME: 'usage',
  EVENTHUB_CONSUMER_GROUP: 'chargeonce',
  EVENTHUB_NAMESPACE: 'contoso.servicebus.windows.net',
  CHECKPOINT_CONTAINER_URL: 'https://acct.blob.core.windows.net/checkpoints',
};
const STRINGS = {
  ...IDENTITY,
  EVENTHUB_NAMESPACE: undefined,
  CHECKPOINT_CONTAINER_URL: undefined,
  EVENTHUB_CONNECTION_STRING: HUB_STRING,
  CHECKPOINT_CONNECTION_STRING: STORAGE_STRING,
  CHECKPOINT_CONTAINER: 'checkpoints',
};

function good(changes: Record<string, string | undefined>) {
  const read = readConfig(environment(changes));
  if (!read.ok) throw new Error(`refused: ${read.problems.join(' | ')}`);
  const { config, warnings } = read;
  if (config.source !== 'event-hubs') throw new Error(`another source: ${config.source}`);
  return { config, hubs: config.eventHubs, warnings };
}

function problems(changes: Record<string, string | undefined>): readonly string[] {
  const read = readConfig(environment(changes));
  return read.ok ? [] : read.problems;
}

describe('Event Hubs', () => {
  test('with an identity', () => {
    const { hubs, warnings } = good(IDENTITY);
    expect(warnings).toEqual([]);
    expect(hubs).toEqual({
      eventHubName: 'usage',
      consumerGroup: 'chargeonce',
      hub: { method: 'identity', fullyQualifiedNamespace: 'contoso.servicebus.windows.net' },
      checkpoints: { method: 'identity', containerUrl: 'https://acct.blob.core.windows.net/checkpoints' },
      ownershipMs: 60_000,
      ownershipMarginMs: 2_000,
      silenceMs: 60_000,
    });
  });

  test('with connection strings, whose keys are shown nowhere', () => {
    const { config, hubs } = good(STRINGS);
    expect(hubs.hub).toEqual({ method: 'connection-string', connectionString: HUB_STRING });
    expect(hubs.checkpoints).toEqual({
      method: 'connection-string',
      connectionString: STORAGE_STRING,
      container: 'checkpoints',
    });
    const shown = JSON.stringify(describeConfig(config));
    expect(shown).not.toContain(KEY);
    expect(shown).toContain('Endpoint=sb://contoso.servicebus.windows.net/');
    expect(shown).toContain('AccountName=acct;AccountKey=***');
  });

  test.each(['batch', 'record', 'time', 'count', 'manual'])('CHECKPOINT_MODE=%s, as for Kinesis', (mode) => {
    expect(good({ ...IDENTITY, CHECKPOINT_MODE: mode }).config.checkpoint.mode).toBe(mode);
    expect(problems({ CHECKPOINT_MODE: mode })).toEqual([]);
  });

  test('an ownership that is short, and the group of everybody, are warned of', () => {
    const { warnings } = good({ ...IDENTITY, EVENTHUB_OWNERSHIP_MS: '5000', EVENTHUB_CONSUMER_GROUP: '$Default' });
    expect(warnings.map((each) => each.split(':')[0])).toEqual(['EVENTHUB_CONSUMER_GROUP', 'EVENTHUB_OWNERSHIP_MS']);
  });

  test('says everything that is missing at once', () => {
    const said = problems({ SOURCE: 'event-hubs', STRIPE_API_KEY: undefined });
    expect(said.map((each) => each.split(':')[0]).toSorted()).toEqual([
      'CHECKPOINT_CONTAINER_URL',
      'EVENTHUB_CONSUMER_GROUP',
      'EVENTHUB_NAME',
      'EVENTHUB_NAMESPACE',
      'STRIPE_API_KEY',
    ]);
    for (const each of said) expect(each).toMatch(/^[A-Z_]+: received .*; allowed: .+\. .+/);
  });

  test.each([
    ['EVENTHUB_NAME', 'a hub'],
    ['EVENTHUB_CONSUMER_GROUP', 'a/b'],
    ['EVENTHUB_NAMESPACE', 'contoso'],
    ['EVENTHUB_NAMESPACE', 'sb://contoso.servicebus.windows.net'],
    ['EVENTHUB_ENDPOINT_ADDRESS', 'http://x/y'],
    ['CHECKPOINT_CONTAINER_URL', 'http://acct.blob.core.windows.net/checkpoints'],
    ['CHECKPOINT_CONTAINER_URL', 'https://acct.blob.core.windows.net/'],
    ['CHECKPOINT_CONTAINER_URL', 'https://acct.blob.core.windows.net/a/b'],
    ['CHECKPOINT_CONTAINER', 'beside-the-address'],
    ['AZURE_CLIENT_ID', '/subscriptions/x'],
    ['EVENTHUB_OWNERSHIP_MS', '1000'],
    ['EVENTHUB_SILENCE_MS', '60s'],
    ['CHECKPOINT_MODE', 'never'],
  ])('%s=%s is refused', (name, value) => {
    expect(problems({ ...IDENTITY, [name]: value }).map((each) => each.split(':')[0])).toEqual([name]);
  });

  test.each([
    [{ EVENTHUB_NAMESPACE: 'contoso.servicebus.windows.net' }, 'EVENTHUB_NAMESPACE'],
    [{ CHECKPOINT_CONTAINER_URL: `https://acct.blob.core.windows.net/c?sig=${KEY}` }, 'CHECKPOINT_CONTAINER_URL'],
    [{ CHECKPOINT_CONTAINER: undefined }, 'CHECKPOINT_CONTAINER'],
    [{ CHECKPOINT_CONTAINER: 'Not-Allowed' }, 'CHECKPOINT_CONTAINER'],
    [{ EVENTHUB_CONNECTION_STRING: `SharedAccessKey=${KEY}` }, 'EVENTHUB_CONNECTION_STRING'],
    [{ EVENTHUB_CONNECTION_STRING: `${HUB_STRING};EntityPath=other` }, 'EVENTHUB_CONNECTION_STRING'],
    [{ CHECKPOINT_CONNECTION_STRING: `AccountName=acct;AccountKey=${KEY}` }, 'CHECKPOINT_CONNECTION_STRING'],
    [
      { CHECKPOINT_CONNECTION_STRING: `DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=${KEY}` },
      'CHECKPOINT_CONNECTION_STRING',
    ],
    [{ CHECKPOINT_CONNECTION_STRING: KEY }, 'CHECKPOINT_CONNECTION_STRING'],
  ])('beside connection strings, %o is refused without showing a key', (changes, name) => {
    const said = problems({ ...STRINGS, ...changes });
    expect(said.map((each) => each.split(':')[0])).toEqual([name]);
    expect(said.join()).not.toContain(KEY);
  });
});

describe('a build that reads one source', () => {
  test('takes it where SOURCE is not set, and refuses the other', () => {
    const { SOURCE: _, ...without } = IDENTITY;
    const read = readConfig(environment(without), ['event-hubs']);
    expect(read.ok && read.config.source).toBe('event-hubs');
    const other = readConfig(environment({ SOURCE: 'event-hubs' }), ['kinesis']);
    expect(other.ok ? [] : other.problems).toEqual([
      'SOURCE: received "event-hubs"; allowed: kinesis. This build reads kinesis only: run the one that is made for event-hubs.',
    ]);
  });
});
