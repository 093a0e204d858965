import { type Duration, Token } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { wrongProp } from '../../shared/check';
import { isMadeHere } from '../made-here';
import type { LedgerDatabaseProps } from './ledger-database-props';

/** The oldest PostgreSQL that the ledger's schema is tested on. */
const OLDEST_VERSION = 14;
/** The least that RDS gives a gp3 volume. */
const SMALLEST_STORAGE_GIB = 20;
const LONGEST_BACKUP_DAYS = 35;
const ZONES = 2;
const MONITORING_SECONDS = [0, 1, 5, 10, 15, 30, 60];
const DATABASE_NAME = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

/** @throws when RDS would refuse a value after the network was made, or when the ledger would not survive its server */
export function checkLedger(path: string, props: LedgerDatabaseProps): void {
  const refuse = (prop: string, received: string, allowed: string, wayOut: string): never => {
    throw wrongProp({ path, prop, received, allowed, wayOut });
  };
  const { engineVersion, databaseName, backupRetention, monitoringInterval, allocatedStorage, maxAllocatedStorage } =
    props;
  if (engineVersion !== undefined && Number(engineVersion.postgresMajorVersion) < OLDEST_VERSION) {
    const received = engineVersion.postgresFullVersion;
    refuse('engineVersion', received, `${OLDEST_VERSION} or later`, 'The schema needs it. Leave it out for 17.');
  }
  if (databaseName !== undefined && !Token.isUnresolved(databaseName) && !DATABASE_NAME.test(databaseName)) {
    const allowed = 'a letter, then up to 62 letters, digits and underscores';
    refuse('databaseName', `"${databaseName}"`, allowed, 'RDS takes no other. Leave it out for chargeonce.');
  }
  const days = known(backupRetention)?.toDays({ integral: false });
  if (days !== undefined && (!Number.isInteger(days) || days < 1 || days > LONGEST_BACKUP_DAYS)) {
    const allowed = `whole days from 1 to ${LONGEST_BACKUP_DAYS}`;
    refuse('backupRetention', `${days} days`, allowed, 'Without backups nobody can say who was billed after a loss.');
  }
  const seconds = known(monitoringInterval)?.toSeconds({ integral: false });
  if (seconds !== undefined && !MONITORING_SECONDS.includes(seconds)) {
    const allowed = `${MONITORING_SECONDS.join(', ')} s`;
    refuse('monitoringInterval', `${seconds} s`, allowed, 'RDS takes no other. Leave it out for 60 s.');
  }
  checkStorage(path, allocatedStorage ?? SMALLEST_STORAGE_GIB, maxAllocatedStorage);
}

/**
 * Where the database lives: isolated subnets when there are some and nothing is said.
 *
 * @throws when the VPC has public subnets alone, or when RDS would refuse to spread over too few zones
 */
export function databaseSubnets(path: string, { vpc, vpcSubnets }: LedgerDatabaseProps): ec2.SubnetSelection {
  const prop = 'vpcSubnets';
  if (vpcSubnets === undefined && vpc.isolatedSubnets.length + vpc.privateSubnets.length === 0) {
    const allowed = 'a VPC with isolated or private subnets, or subnets that are named';
    const wayOut = 'A ledger belongs where the internet does not reach. Add isolated subnets in two zones.';
    throw wrongProp({ path, prop, received: 'not given, and the VPC’s subnets are all public', allowed, wayOut });
  }
  const isolated = vpc.isolatedSubnets.length > 0;
  const { PRIVATE_ISOLATED, PRIVATE_WITH_EGRESS } = ec2.SubnetType;
  const chosen = vpcSubnets ?? { subnetType: isolated ? PRIVATE_ISOLATED : PRIVATE_WITH_EGRESS };

  const { availabilityZones, isPendingLookup } = vpc.selectSubnets(chosen);
  const zones = new Set(availabilityZones);
  // One token may stand for a whole list of an imported VPC.
  const unknown = Token.isUnresolved(availabilityZones) || availabilityZones.some((zone) => Token.isUnresolved(zone));
  const counted = isMadeHere(vpc) || !unknown;
  if (!isPendingLookup && counted && zones.size < ZONES) {
    const wayOut = 'RDS takes no fewer, also when multiAz is false: it may have to move the server.';
    throw wrongProp({ path, prop, received: 'subnets of one zone', allowed: 'of two zones or more', wayOut });
  }
  return chosen;
}

function checkStorage(path: string, allocated: number, most: number | undefined): void {
  if (!Token.isUnresolved(allocated) && (!Number.isInteger(allocated) || allocated < SMALLEST_STORAGE_GIB)) {
    const allowed = `whole GiB from ${SMALLEST_STORAGE_GIB}`;
    const wayOut = 'A gp3 volume of RDS has no less. Leave it out for 20.';
    throw wrongProp({ path, prop: 'allocatedStorage', received: `${allocated} GiB`, allowed, wayOut });
  }
  if (most === undefined) return;
  if (Token.isUnresolved(allocated) || Token.isUnresolved(most) || most >= allocated) return;
  throw wrongProp({
    path,
    prop: 'maxAllocatedStorage',
    received: `${most} GiB`,
    allowed: `${allocated} GiB or more, the storage to begin with`,
    wayOut: 'Storage never shrinks. Say the same number for storage that does not grow.',
  });
}

function known(duration: Duration | undefined): Duration | undefined {
  return duration?.isUnresolved() ? undefined : duration;
}
