import * as dbforpostgresql from '@pulumi/azure-native/dbforpostgresql';
import { unknownArgs } from '../shared/known-args';
import { wrongCommon, wrongWhenMissing } from '../shared/needed-args';
import { found, refuseWrongArgs, shown, type WrongArg, wrongCount } from '../shared/wrong-args';
import type { LedgerDatabaseArgs, LedgerHighAvailability } from './ledger-database-args';

/** All that it reads. */
const ARGS = {
  resourceGroupName: true,
  tags: true,
  network: true,
  version: true,
  skuName: true,
  storageSizeGB: true,
  highAvailability: true,
  backupRetentionDays: true,
  databaseName: true,
  existing: true,
  workspaceId: true,
  protect: true,
} as const satisfies Record<keyof LedgerDatabaseArgs, true>;

const DATABASE_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;
/** Azure's names of a network, an address and a gateway begin with the component's; a network's has 64 characters. */
const NETWORK_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,46}$/;
/** Databases that every server has: none of ours, and `azure_maintenance` is out of reach even for an administrator. */
const SYSTEM_DATABASES = ['postgres', 'azure_maintenance', 'azure_sys', 'template0', 'template1'];
const VERSIONS = ['14', '15', '16', '17', '18'];
const MODES: readonly LedgerHighAvailability[] = ['ZoneRedundant', 'SameZone', 'off'];
/** Sizes that the platform's default disks have. */
const STORAGE_GB = [32, 64, 128, 256, 512, 1_024, 2_048, 4_095, 4_096, 8_192, 16_384, 32_767];
/** First letter of the size, after `Standard_`. */
const TIERS: Readonly<Record<string, dbforpostgresql.SkuTier>> = {
  B: dbforpostgresql.SkuTier.Burstable,
  D: dbforpostgresql.SkuTier.GeneralPurpose,
  E: dbforpostgresql.SkuTier.MemoryOptimized,
};
const SERVER_ARGS = [
  'network',
  'version',
  'skuName',
  'storageSizeGB',
  'highAvailability',
  'backupRetentionDays',
] as const;

type LedgerSettings = Partial<LedgerDatabaseArgs>;

/** What the arguments come to. */
export interface LedgerPlan {
  readonly version: string;
  readonly skuName: string;
  readonly tier: dbforpostgresql.SkuTier;
  readonly storageSizeGB: number;
  readonly highAvailability: LedgerHighAvailability;
  readonly backupRetentionDays: number;
  readonly databaseName: string;
}

/** @throws when Azure would refuse a value after the network was made, or when the ledger would not survive its server */
export function planLedger(name: string, args: LedgerDatabaseArgs): LedgerPlan {
  refuseWrongArgs('LedgerDatabase', name, [...wrongCommon(args), ...wrongLedgerDatabase(name, { ...args })]);
  return ledgerPlan(args);
}

function ledgerPlan(args: LedgerSettings): LedgerPlan {
  const skuName = args.skuName ?? 'Standard_D2ds_v5';
  return {
    version: args.version ?? '17',
    skuName,
    tier: tierOf(skuName) ?? dbforpostgresql.SkuTier.GeneralPurpose,
    storageSizeGB: args.storageSizeGB ?? 32,
    highAvailability: args.highAvailability ?? 'ZoneRedundant',
    backupRetentionDays: args.backupRetentionDays ?? 14,
    databaseName: args.databaseName ?? 'chargeonce',
  };
}

/** All that is wrong with the arguments of a ledger. */
export function wrongLedgerDatabase(name: string, args: LedgerSettings): WrongArg[] {
  const plan = ledgerPlan(args);
  return found([
    ...unknownArgs(args, ARGS),
    ...(args.existing === undefined ? [] : [missingServer(args.existing), ...besideExisting(args)]),
    ...(args.network === undefined ? [] : missingPlaces(args.network)),
    args.existing === undefined && args.network === undefined ? wrongName(name) : undefined,
    wrongVersion(plan.version),
    tierOf(plan.skuName) === undefined ? wrongSize(plan.skuName) : undefined,
    wrongStorage(plan.storageSizeGB),
    wrongAvailability(plan),
    wrongCount('backupRetentionDays', plan.backupRetentionDays, {
      min: 7,
      max: 35,
      unit: ' days',
      wayOut: 'Without backups nobody can say who was billed after a loss. Leave it out for 14.',
    }),
    wrongDatabase(plan.databaseName),
  ]);
}

function missingServer({ serverName }: NonNullable<LedgerSettings['existing']>): WrongArg | undefined {
  const allowed = 'the name of a flexible server';
  return wrongWhenMissing('existing.serverName', serverName, allowed, 'The ledger is a database of that server.');
}

function missingPlaces(network: NonNullable<LedgerSettings['network']>): (WrongArg | undefined)[] {
  const wayOut = 'The server is in that network and nowhere else. Leave network out for one of its own.';
  return [
    wrongWhenMissing(
      'network.subnetId',
      network.subnetId,
      'the id of a subnet delegated to Microsoft.DBforPostgreSQL/flexibleServers',
      wayOut,
    ),
    wrongWhenMissing(
      'network.privateDnsZoneId',
      network.privateDnsZoneId,
      'the id of a private DNS zone that ends with .postgres.database.azure.com and is linked to the network',
      wayOut,
    ),
  ];
}

function besideExisting(args: LedgerSettings): WrongArg[] {
  return SERVER_ARGS.filter((prop) => args[prop] !== undefined).map((prop) => ({
    prop,
    received: prop === 'network' ? 'a network' : shown(args[prop]),
    allowed: 'none beside existing',
    wayOut: 'Change the server where it is made.',
  }));
}

function wrongName(name: string): WrongArg | undefined {
  if (NETWORK_NAME.test(name)) return undefined;
  const allowed = 'a letter or digit, then up to 46 letters, digits, ".", "-" and "_"';
  return { prop: 'name', received: shown(name), allowed, wayOut: 'Names of its network begin with it.' };
}

function tierOf(skuName: string): dbforpostgresql.SkuTier | undefined {
  return TIERS[/^Standard_([A-Z])\d+[a-z]*(_v\d+)?$/.exec(skuName)?.[1] ?? ''];
}

function wrongSize(skuName: string): WrongArg {
  const allowed = 'Standard_B…, Standard_D… and Standard_E… sizes, such as Standard_D4ds_v5';
  return { prop: 'skuName', received: shown(skuName), allowed, wayOut: 'Leave it out for Standard_D2ds_v5.' };
}

function wrongVersion(version: string): WrongArg | undefined {
  if (VERSIONS.includes(version)) return undefined;
  const wayOut = 'The schema needs 14 or later, as text. Leave it out for 17.';
  return { prop: 'version', received: shown(version), allowed: VERSIONS.join(', '), wayOut };
}

function wrongStorage(storageSizeGB: number): WrongArg | undefined {
  if (STORAGE_GB.includes(storageSizeGB)) return undefined;
  const wayOut = 'Its disks have no other sizes. Leave it out for 32; it grows by itself.';
  return { prop: 'storageSizeGB', received: shown(storageSizeGB), allowed: STORAGE_GB.join(', '), wayOut };
}

function wrongAvailability({ highAvailability, tier, skuName }: LedgerPlan): WrongArg | undefined {
  const prop = 'highAvailability';
  if (!MODES.includes(highAvailability)) {
    const wayOut = 'Leave it out for ZoneRedundant; off where the region has no zones.';
    return { prop, received: shown(highAvailability), allowed: MODES.join(', '), wayOut };
  }
  if (highAvailability === 'off' || tier !== dbforpostgresql.SkuTier.Burstable) return undefined;
  const wayOut = 'A burstable server has no second one. Say off, or take a Standard_D… size.';
  return { prop, received: `${shown(highAvailability)} for ${skuName}`, allowed: 'off', wayOut };
}

function wrongDatabase(databaseName: string): WrongArg | undefined {
  const prop = 'databaseName';
  if (typeof databaseName !== 'string' || !DATABASE_NAME.test(databaseName)) {
    const allowed = 'a letter, then up to 62 letters, digits, "_" and "-"';
    return { prop, received: shown(databaseName), allowed, wayOut: 'Leave it out for chargeonce.' };
  }
  if (!SYSTEM_DATABASES.includes(databaseName)) return undefined;
  const wayOut = 'Azure makes that one with the server. Leave it out for chargeonce.';
  return { prop, received: shown(databaseName), allowed: 'a database of its own', wayOut };
}
