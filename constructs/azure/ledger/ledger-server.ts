import * as dbforpostgresql from '@pulumi/azure-native/dbforpostgresql';
import * as monitor from '@pulumi/azure-native/monitor';
import type * as pulumi from '@pulumi/pulumi';
import { globalName } from '../shared/global-name';
import { keep } from '../shared/stateful';
import { refuseWrongArgs, shown, type WrongArg } from '../shared/wrong-args';
import type { LedgerPlan } from './ledger-checks';
import type { ExistingServerArgs, LedgerDatabaseArgs } from './ledger-database-args';
import type { LedgerNetwork } from './ledger-network';

const OLDEST_VERSION = 14;

/** A flexible server, made here or elsewhere. */
export interface ServerParts {
  readonly server: dbforpostgresql.Server | undefined;
  readonly id: pulumi.Output<string>;
  readonly name: pulumi.Output<string>;
  readonly host: pulumi.Output<string>;
  readonly resourceGroupName: pulumi.Input<string>;
  /** The last thing that is done to the server; the next waits for it, since a server does one at a time. */
  readonly last: pulumi.Resource | undefined;
}

const NAME_RULES = { maxLength: 63, hyphens: true };
/** The first two are Azure's defaults, said so that nobody's template undoes them. */
const SETTINGS: readonly (readonly [string, string])[] = [
  ['require_secure_transport', 'on'],
  ['ssl_min_protocol_version', 'TLSv1.2'],
  ['log_connections', 'on'],
  ['log_disconnections', 'on'],
  ['log_lock_waits', 'on'],
];
/** A failover swaps the zones, and storage grows by itself; neither is to be undone by the next deploy. */
const SERVICE_MANAGED = ['availabilityZone', 'highAvailability.standbyAvailabilityZone', 'storage.storageSizeGB'];
/** No server moves to another subnet: a preview must show that as the replacement it would be, which is then refused. */
const CREATE_ONLY = ['network.delegatedSubnetResourceId'];

export function ownServer(
  parent: pulumi.Resource,
  name: string,
  args: LedgerDatabaseArgs,
  plan: LedgerPlan,
  network: LedgerNetwork,
  tenantId: pulumi.Output<string>,
): ServerParts {
  const { resourceGroupName } = args;
  const server = new dbforpostgresql.Server(
    `${name}-server`,
    {
      resourceGroupName,
      serverName: globalName(parent, 'ledger', name, resourceGroupName, NAME_RULES),
      version: plan.version,
      sku: { name: plan.skuName, tier: plan.tier },
      storage: { storageSizeGB: plan.storageSizeGB, autoGrow: dbforpostgresql.StorageAutoGrow.Enabled },
      highAvailability: { mode: MODES[plan.highAvailability] },
      backup: {
        backupRetentionDays: plan.backupRetentionDays,
        geoRedundantBackup: dbforpostgresql.GeographicallyRedundantBackup.Disabled,
      },
      network: {
        delegatedSubnetResourceId: network.subnetId,
        privateDnsZoneArmResourceId: network.privateDnsZoneId,
      },
      // No password exists, so none is in the state, in a log or in anyone's hands.
      authConfig: {
        activeDirectoryAuth: dbforpostgresql.MicrosoftEntraAuth.Enabled,
        passwordAuth: dbforpostgresql.PasswordBasedAuth.Disabled,
        tenantId,
      },
      ...(args.tags === undefined ? {} : { tags: args.tags }),
    },
    {
      parent,
      ...keep(args.protect ?? true),
      dependsOn: [...network.before],
      ignoreChanges: SERVICE_MANAGED,
      replaceOnChanges: CREATE_ONLY,
    },
  );
  return {
    server,
    id: server.id,
    name: server.name,
    host: server.fullyQualifiedDomainName,
    resourceGroupName,
    last: settings(parent, name, resourceGroupName, server),
  };
}

const MODES = {
  ZoneRedundant: dbforpostgresql.PostgreSqlFlexibleServerHighAvailabilityMode.ZoneRedundant,
  SameZone: dbforpostgresql.PostgreSqlFlexibleServerHighAvailabilityMode.SameZone,
  off: dbforpostgresql.PostgreSqlFlexibleServerHighAvailabilityMode.Disabled,
} as const;

/** One after another: Azure answers that the server is busy when two are changed at once. */
function settings(
  parent: pulumi.Resource,
  name: string,
  resourceGroupName: pulumi.Input<string>,
  server: dbforpostgresql.Server,
): pulumi.Resource {
  return SETTINGS.reduce<pulumi.Resource>(
    (last, [configurationName, value]) =>
      new dbforpostgresql.Configuration(
        `${name}-${configurationName.replaceAll('_', '-')}`,
        { resourceGroupName, serverName: server.name, configurationName, value, source: 'user-override' },
        // A setting goes with its server; undoing each first would take minutes.
        { parent, dependsOn: [last], deletedWith: server },
      ),
    server,
  );
}

export function existingServer(
  parent: pulumi.Resource,
  name: string,
  existing: ExistingServerArgs,
  args: LedgerDatabaseArgs,
): ServerParts {
  const resourceGroupName = existing.resourceGroupName ?? args.resourceGroupName;
  const found = dbforpostgresql
    .getServerOutput({ resourceGroupName, serverName: existing.serverName }, { parent })
    .apply((server) => {
      const entra = server.authConfig?.activeDirectoryAuth;
      refuseWrongArgs('LedgerDatabase', name, [
        tooOld(server.version),
        entra === dbforpostgresql.MicrosoftEntraAuth.Enabled
          ? undefined
          : {
              prop: 'existing',
              received: `a server whose Entra authentication is ${shown(entra)}`,
              allowed: '"Enabled"',
              wayOut:
                'Workers log in with their identity, never with a password: switch it on where the server is made.',
            },
      ]);
      return server;
    });
  return {
    server: undefined,
    id: found.id,
    name: found.name,
    host: found.fullyQualifiedDomainName,
    resourceGroupName,
    last: undefined,
  };
}

/** The server's logs, to where the consumer's are. */
export function serverLogs(
  parent: pulumi.Resource,
  name: string,
  serverId: pulumi.Input<string>,
  workspaceId: pulumi.Input<string>,
): void {
  new monitor.DiagnosticSetting(
    `${name}-diagnostics`,
    {
      resourceUri: serverId,
      name: `chargeonce-${name}`,
      workspaceId,
      logs: [{ categoryGroup: 'allLogs', enabled: true }],
    },
    { parent },
  );
}

/** The version that Azure names of an existing server; a unit test's mocks may name none. */
function tooOld(version: string | undefined): WrongArg | undefined {
  if (version === undefined || !(Number.parseInt(version, 10) < OLDEST_VERSION)) return undefined;
  const wayOut = 'The schema needs it: upgrade the server where it is made.';
  return { prop: 'existing', received: `a server of PostgreSQL ${version}`, allowed: '14 or later', wayOut };
}
