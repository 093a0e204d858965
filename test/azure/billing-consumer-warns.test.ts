import * as pulumi from '@pulumi/pulumi';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { BillingConsumer, type BillingConsumerArgs, LedgerDatabase } from '../../constructs/azure';
import { GROUP, smallest } from './consumer-program';
import { type RunOptions, runProgram } from './mocks';

const SERVER: RunOptions['lookups'] = {
  'azure-native:dbforpostgresql:getServer': () => ({
    id: '/subscriptions/s/resourceGroups/rg-data/providers/Microsoft.DBforPostgreSQL/flexibleServers/contoso',
    name: 'contoso',
    fullyQualifiedDomainName: 'contoso.postgres.database.azure.com',
    authConfig: { activeDirectoryAuth: 'Enabled', passwordAuth: 'Disabled' },
  }),
};

describe('a consumer', () => {
  let warn: MockInstance<typeof pulumi.log.warn>;
  beforeEach(() => {
    warn = vi.spyOn(pulumi.log, 'warn').mockResolvedValue();
  });
  afterEach(() => warn.mockRestore());

  const warnings = async (change: (args: BillingConsumerArgs) => BillingConsumerArgs) => {
    await runProgram(() => new BillingConsumer('charges', change(smallest())), { lookups: SERVER });
    return warn.mock.calls.map(([text]) => text);
  };
  const ledgerOn = (more: object = {}) =>
    new LedgerDatabase('existing', { resourceGroupName: GROUP, existing: { serverName: 'contoso', ...more } });

  it('warns of nothing by itself', async () => {
    expect(await warnings((args) => args)).toEqual([]);
  });

  it('warns of a setting that is misspelt, and of no setting of another program', async () => {
    const environment = { LOGLEVEL: 'debug', NODE_OPTIONS: '--max-old-space-size=512', LOG_LEVEL: 'debug' };
    expect(await warnings((args) => ({ ...args, environment }))).toEqual([
      expect.stringMatching(/LOGLEVEL, which nothing reads. Did you mean LOG_LEVEL\?/),
    ]);
  });

  it('warns of workers in no network, when nobody can know whether the ledger is in one', async () => {
    const ofNetwork = [expect.stringMatching(/in no network of yours.*environmentSubnetId or managedEnvironmentId/)];
    expect(await warnings((args) => ({ ...args, ledger: ledgerOn() }))).toEqual(ofNetwork);
    warn.mockClear();
    expect(await warnings((args) => ({ ...args, ledger: ledgerOn({ environmentSubnetId: 's' }) }))).toEqual([]);
    expect(await warnings((args) => ({ ...args, ledger: ledgerOn(), managedEnvironmentId: 'e' }))).toEqual([]);
  });
});
