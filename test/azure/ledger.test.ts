import { beforeAll, describe, expect, it } from 'vitest';
import { LedgerDatabase, type LedgerDatabaseArgs, type LedgerNetworkArgs } from '../../constructs/azure';
import { changedResources } from './changed-resources';
import { TENANT, type Values } from './mock-azure';
import { knownValue, knownValues, type Run, type RunOptions, runProgram } from './mocks';

const GROUP = 'rg-billing';
const PRINCIPAL = '00000000-0000-4000-8000-00000000000a';
const WORKSPACE = '/subscriptions/s/resourceGroups/r/providers/Microsoft.OperationalInsights/workspaces/logs';
const NETWORK = '/subscriptions/s/resourceGroups/r/providers/Microsoft.Network';
const network: LedgerNetworkArgs = {
  subnetId: `${NETWORK}/virtualNetworks/n/subnets/databases`,
  privateDnsZoneId: `${NETWORK}/privateDnsZones/ledger.private.postgres.database.azure.com`,
};
const existing = { serverName: 'contoso' };

const ENTRA = { authConfig: { activeDirectoryAuth: 'Enabled', passwordAuth: 'Enabled' } };
const looksUp = (server: Values = ENTRA): Pick<RunOptions, 'lookups'> => ({
  lookups: {
    'azure-native:dbforpostgresql:getServer': () => ({
      id: '/subscriptions/s/resourceGroups/rg-billing/providers/Microsoft.DBforPostgreSQL/flexibleServers/contoso',
      name: 'contoso',
      fullyQualifiedDomainName: 'contoso.postgres.database.chinacloudapi.cn',
      ...server,
    }),
  },
});

const run = (args: Partial<LedgerDatabaseArgs> = {}, options: RunOptions = {}) =>
  runProgram(() => new LedgerDatabase('usage', { resourceGroupName: GROUP, ...args }), options);

const SETTINGS = [
  'usage-require-secure-transport',
  'usage-ssl-min-protocol-version',
  'usage-log-connections',
  'usage-log-disconnections',
  'usage-log-lock-waits',
];
const OWN_NETWORK = [
  'usage-egress',
  'usage-egress-address',
  'usage-environment-subnet',
  'usage-network',
  'usage-server-subnet',
  'usage-zone',
  'usage-zone-link',
];
const ALL = ['usage-database', 'usage-server', ...SETTINGS, ...OWN_NETWORK].sort();

describe.each([true, false])('LedgerDatabase, preview %s', (preview) => {
  let ledger: Run<LedgerDatabase>;
  beforeAll(async () => {
    ledger = await run({}, { preview });
  });

  it('makes a server with a second one in another zone, that knows no password', async () => {
    expect(ledger.named('usage-server').inputs).toMatchObject({
      resourceGroupName: GROUP,
      serverName: expect.stringMatching(/^usage-[0-9a-f]{8}$/),
      version: '17',
      sku: { name: 'Standard_D2ds_v5', tier: 'GeneralPurpose' },
      storage: { storageSizeGB: 32, autoGrow: 'Enabled' },
      highAvailability: { mode: 'ZoneRedundant' },
      backup: { backupRetentionDays: 14, geoRedundantBackup: 'Disabled' },
      authConfig: { activeDirectoryAuth: 'Enabled', passwordAuth: 'Disabled', tenantId: TENANT },
    });
    expect(JSON.stringify(ledger.resources)).not.toMatch(/administratorLogin|assword"/);
    expect(ledger.named('usage-database').inputs).toMatchObject({ databaseName: 'chargeonce', charset: 'UTF8' });
    expect(ledger.resources.map((each) => each.name).sort()).toEqual(['usage', ...ALL]);
  });

  it('sets TLS and logs, one after another: a server does one thing at a time', async () => {
    const steps = [...SETTINGS, 'usage-database'].map((name) => ledger.named(name));
    expect(
      steps.slice(0, -1).map(({ inputs }) => `${inputs.configurationName}=${inputs.value} by ${inputs.source}`),
    ).toEqual([
      'require_secure_transport=on by user-override',
      'ssl_min_protocol_version=TLSv1.2 by user-override',
      'log_connections=on by user-override',
      'log_disconnections=on by user-override',
      'log_lock_waits=on by user-override',
    ]);
    let last = ledger.named('usage-server');
    for (const step of steps) {
      expect(step.dependsOn).toContain(last.urn);
      last = step;
    }
  });

  it('makes every administrator wait for the last thing that is done to the server', async () => {
    const ledger = await runProgram(
      () => {
        const made = new LedgerDatabase('usage', { resourceGroupName: GROUP });
        made.grantMigrate('migrator', { principalId: PRINCIPAL, principalName: 'usage-migrator' });
        made.grantMigrate('operator', { principalId: PRINCIPAL, principalName: 'usage-operator' });
      },
      { preview },
    );
    const [server, database] = [ledger.named('usage-server'), ledger.named('usage-database')];
    const [migrator, operator] = [ledger.named('migrator'), ledger.named('operator')];
    expect(migrator.inputs).toMatchObject({
      objectId: PRINCIPAL,
      principalName: 'usage-migrator',
      principalType: 'ServicePrincipal',
      tenantId: TENANT,
    });
    expect(migrator).toMatchObject({ parent: ledger.named('usage').urn, deletedWith: server.urn });
    expect(migrator.dependsOn).toContain(database.urn);
    expect(operator.dependsOn).toContain(migrator.urn);
  });

  it('keeps what is lost for ever, with what it lives in, and never moves it', async () => {
    for (const name of ['usage-server', 'usage-database', ...OWN_NETWORK]) {
      expect(ledger.named(name)).toMatchObject({ protect: true, retainOnDelete: true });
    }
    expect(ledger.named('usage-server')).toMatchObject({
      ignoreChanges: ['availabilityZone', 'highAvailability.standbyAvailabilityZone', 'storage.storageSizeGB'],
      replaceOnChanges: ['network.delegatedSubnetResourceId'],
    });
  });

  it('has two subnets, each for what it is delegated to, and one way out', async () => {
    expect(ledger.named('usage-server-subnet').inputs).toMatchObject({
      addressPrefix: '10.90.2.0/24',
      delegations: [{ serviceName: 'Microsoft.DBforPostgreSQL/flexibleServers' }],
    });
    expect(ledger.named('usage-environment-subnet').inputs).toMatchObject({
      addressPrefix: '10.90.0.0/23',
      delegations: [{ serviceName: 'Microsoft.App/environments' }],
      natGateway: { id: expect.anything() },
      serviceEndpoints: [{ service: 'Microsoft.Storage' }],
    });
    // A network changes one subnet at a time, and a server is found by its zone's link.
    expect(ledger.named('usage-environment-subnet').dependsOn).toContain(ledger.named('usage-server-subnet').urn);
    expect(ledger.named('usage-server').dependsOn).toContain(ledger.named('usage-zone-link').urn);
    expect(ledger.named('usage-zone').inputs).toMatchObject({
      location: 'global',
      privateZoneName: expect.stringMatching(/^usage-[0-9a-f]{8}\.private\.postgres\.database\.azure\.com$/),
    });
    expect(ledger.named('usage-egress-address').inputs).toMatchObject({
      sku: { name: 'Standard' },
      publicIPAllocationMethod: 'Static',
    });
    const { egressIps, environmentSubnetId } = ledger.result;
    expect(egressIps && (await knownValue(egressIps))).toEqual(preview ? undefined : ['203.0.113.7']);
    expect(environmentSubnetId && (await knownValue(environmentSubnetId))).toEqual(
      preview ? undefined : expect.stringMatching(/\/virtualNetworks\/usage-network\/subnets\/environment$/),
    );
  });

  it('tells a worker where it is, never who it is', async () => {
    expect(await knownValues(ledger.result.connectionEnvironment)).toEqual({
      PGHOST: preview ? undefined : expect.stringMatching(/^usage-[0-9a-f]{8}\.postgres\.database\.azure\.com$/),
      PGPORT: '5432',
      PGDATABASE: 'chargeonce',
      PGSSLMODE: 'verify-full',
      DATABASE_AUTH: 'entra',
    });
  });

  it('takes a server that is made elsewhere, and makes only the database in it', async () => {
    const subnet = `${NETWORK}/virtualNetworks/n/subnets/apps`;
    const args = { existing: { ...existing, resourceGroupName: 'rg-data', environmentSubnetId: subnet } };
    const ledger = await run(args, { preview, ...looksUp() });
    expect(ledger.resources.map((each) => each.name)).toEqual(['usage', 'usage-database']);
    expect(ledger.named('usage-database').inputs).toMatchObject({
      resourceGroupName: 'rg-data',
      serverName: 'contoso',
    });
    expect(await knownValues(ledger.result.connectionEnvironment)).toMatchObject({
      PGHOST: 'contoso.postgres.database.chinacloudapi.cn',
    });
    expect(ledger.result).toMatchObject({ server: undefined, egressIps: undefined });
    expect(await knownValue(ledger.result.environmentSubnetId!)).toBe(subnet);
  });

  it.each<[string, Values]>([
    ['"Disabled"', { authConfig: { activeDirectoryAuth: 'Disabled' } }],
    ['not given', {}],
  ])('refuses an existing server whose Entra authentication is %s', async (said, server) => {
    const refusal = run({ existing }, { preview, ...looksUp(server) });
    await expect(refusal).rejects.toThrow(
      `[LedgerDatabase usage] existing is a server whose Entra authentication is ${said}; allowed: "Enabled".`,
    );
  });
});

describe('LedgerDatabase', () => {
  it('lives in a network that is made elsewhere, and makes none', async () => {
    const ledger = await run({ network: { ...network, environmentSubnetId: 'apps' } });
    expect(ledger.resources.map((each) => each.type).filter((type) => /network|dns/.test(type))).toEqual([]);
    expect(ledger.named('usage-server').inputs.network).toEqual({
      delegatedSubnetResourceId: network.subnetId,
      privateDnsZoneArmResourceId: network.privateDnsZoneId,
    });
    expect(await knownValue(ledger.result.environmentSubnetId!)).toBe('apps');
    expect((await run({ network })).result.environmentSubnetId).toBeUndefined();
  });

  const SERVER = ['usage-server'];
  const TAGGED = ['egress', 'egress-address', 'network', 'server', 'zone', 'zone-link'].map((each) => `usage-${each}`);
  const matters: Record<keyof LedgerDatabaseArgs, [Partial<LedgerDatabaseArgs>, string[]]> = {
    resourceGroupName: [{ resourceGroupName: 'rg-other' }, ALL],
    tags: [{ tags: { team: 'billing' } }, TAGGED],
    network: [{ network }, ['usage-server', ...OWN_NETWORK].sort()],
    version: [{ version: '18' }, SERVER],
    skuName: [{ skuName: 'Standard_E4ds_v5' }, SERVER],
    storageSizeGB: [{ storageSizeGB: 128 }, SERVER],
    highAvailability: [{ highAvailability: 'SameZone' }, SERVER],
    backupRetentionDays: [{ backupRetentionDays: 35 }, SERVER],
    databaseName: [{ databaseName: 'billing' }, ['usage-database']],
    existing: [{ existing }, ALL],
    workspaceId: [{ workspaceId: WORKSPACE }, ['usage-diagnostics']],
    protect: [{ protect: false }, ['usage-database', 'usage-server', ...OWN_NETWORK].sort()],
  };
  let standard: Run<LedgerDatabase>;
  beforeAll(async () => {
    standard = await run();
  });
  it.each(Object.entries(matters))('%s changes what it says', async (_arg, [args, changed]) => {
    expect(changedResources(standard, await run(args, looksUp()))).toEqual(changed);
  });

  it.each<[Partial<LedgerDatabaseArgs>, Values]>([
    [{ highAvailability: 'off' }, { highAvailability: { mode: 'Disabled', standbyAvailabilityZone: '' } }],
    [{ skuName: 'Standard_B2s', highAvailability: 'off' }, { sku: { name: 'Standard_B2s', tier: 'Burstable' } }],
    [{ skuName: 'Standard_E4ads_v5' }, { sku: { name: 'Standard_E4ads_v5', tier: 'MemoryOptimized' } }],
  ])('%j is what Azure calls %j', async (args, inputs) => {
    expect((await run(args)).named('usage-server').inputs).toMatchObject(inputs);
  });

  const refused: readonly [string, object][] = [
    ['version is "13"; allowed: 14, 15, 16, 17, 18. The schema needs', { version: '13' }],
    ['version is 17; allowed', { version: 17 }],
    ['skuName is "D2ds_v5"; allowed: Standard_B…', { skuName: 'D2ds_v5' }],
    ['skuName is "Standard_M8"; allowed', { skuName: 'Standard_M8' }],
    ['storageSizeGB is 40; allowed: 32, 64', { storageSizeGB: 40 }],
    ['highAvailability is "Zone"; allowed: ZoneRedundant, SameZone, off', { highAvailability: 'Zone' }],
    ['highAvailability is "ZoneRedundant" for Standard_B2s; allowed: off', { skuName: 'Standard_B2s' }],
    ['backupRetentionDays is 6 days; allowed: whole numbers from 7 to 35 days', { backupRetentionDays: 6 }],
    ['backupRetentionDays is 36 days; allowed', { backupRetentionDays: 36 }],
    ['databaseName is "1st"; allowed: a letter', { databaseName: '1st' }],
    ['databaseName is "postgres"; allowed: a database of its own', { databaseName: 'postgres' }],
    ['network is a network; allowed: none beside existing', { existing, network }],
    ['version is "17"; allowed: none beside existing', { existing, version: '17' }],
    ['backupRetentionDays is 7; allowed: none beside existing', { existing, backupRetentionDays: 7 }],
  ];
  it.each(refused)('refuses in words: %s', async (words, args) => {
    await expect(run(args, looksUp())).rejects.toThrow(`[LedgerDatabase usage] ${words}`);
  });

  it('refuses a name that its network could not have, and only where it makes one', async () => {
    const named = (name: string, args: object = {}) =>
      runProgram(() => new LedgerDatabase(name, { resourceGroupName: 'rg-billing', ...args }));
    for (const name of ['my ledger', '-ledger', 'l'.repeat(48)]) {
      await expect(named(name)).rejects.toThrow(
        `[LedgerDatabase ${name}] name is "${name}"; allowed: a letter or digit`,
      );
    }
    const elsewhere = { network: { subnetId: 's', privateDnsZoneId: 'z' } };
    expect((await named('my ledger', elsewhere)).ofType('azure-native:dbforpostgresql:Server')).toHaveLength(1);
  });

  it('says all that is wrong at once', async () => {
    const refusal = run({ storageSizeGB: 1, backupRetentionDays: 0 });
    await expect(refusal).rejects.toThrow(/storageSizeGB is 1.*\n.*backupRetentionDays is 0 days/);
  });
});
