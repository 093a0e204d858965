import { Stack } from 'aws-cdk-lib';
import type * as rds from 'aws-cdk-lib/aws-rds';
import type * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { wrongProp } from '../../shared/check';
import { resourceOf } from '../made-here';

/** What the CDK answers for a server that it shall look up, until the lookup was made: it has no security groups. */
const NOT_LOOKED_UP_YET = 'TESTADDRESS';

type Refuse = (prop: string, received: string, allowed: string, wayOut: string) => never;
const refuserOf =
  (path: string): Refuse =>
  (prop, received, allowed, wayOut) => {
    throw wrongProp({ path, prop, received, allowed, wayOut });
  };

/** @throws when nothing could be granted on it, or when it is no PostgreSQL */
export function checkInstance(path: string, instance: rds.IDatabaseInstance): void {
  if (instance.dbInstanceEndpointAddress === NOT_LOOKED_UP_YET) return;
  const refuse = refuserOf(path);
  checkEngine(refuse, instance.engine?.engineType, 'postgres', 'PostgreSQL');
  if (instance.instanceResourceId === undefined) {
    refuse(
      'instanceResourceId',
      'not given',
      'the resource id of the instance (DbiResourceId, db-…)',
      'Logins are granted by it, not by the name: without it nobody may log in. Give it to fromDatabaseInstanceAttributes, or use fromLookup.',
    );
  }
  checkSecurityGroups(refuse, instance.connections.securityGroups.length, 'fromDatabaseInstanceAttributes');
  const made = resourceOf(instance) as rds.CfnDBInstance | undefined;
  if (made !== undefined && Stack.of(made).resolve(made.enableIamDatabaseAuthentication) === false) {
    refuseWithoutIam(refuse);
  }
}

/** @throws when nothing could be granted on it, when it has no address, or when it is no Aurora PostgreSQL */
export function checkCluster(path: string, cluster: rds.IDatabaseCluster): void {
  const refuse = refuserOf(path);
  const endpoint = given(() => cluster.clusterEndpoint);
  if (endpoint?.hostname === NOT_LOOKED_UP_YET) return;
  checkEngine(refuse, cluster.engine?.engineType, 'aurora-postgresql', 'Aurora PostgreSQL');
  if (given(() => cluster.clusterResourceIdentifier) === undefined) {
    refuse(
      'clusterResourceIdentifier',
      'not given',
      'the resource id of the cluster (DbClusterResourceId, cluster-…)',
      'Logins are granted by it, not by the name: without it nobody may log in. Give it to fromDatabaseClusterAttributes, or use fromLookup.',
    );
  }
  if (endpoint === undefined) {
    refuse(
      'clusterEndpointAddress, port',
      'not given',
      'the address and port of the writer',
      'The ledger is written. Give both to fromDatabaseClusterAttributes, or use fromLookup.',
    );
  }
  checkSecurityGroups(refuse, cluster.connections.securityGroups.length, 'fromDatabaseClusterAttributes');
  const made = resourceOf(cluster) as rds.CfnDBCluster | undefined;
  if (made !== undefined && Stack.of(made).resolve(made.enableIamDatabaseAuthentication) !== true) {
    refuseWithoutIam(refuse);
  }
}

/** @throws when it is not known how migrations log in */
export function checkOwnerSecret(path: string, ownerSecret: secrets.ISecret | undefined): secrets.ISecret {
  if (ownerSecret !== undefined) return ownerSecret;
  throw wrongProp({
    path,
    prop: 'ownerSecret',
    received: 'not given',
    allowed: 'a secret with the fields username and password',
    wayOut: 'Migrations log in with it to create tables and the workers’ role; workers never see it.',
  });
}

function checkEngine(refuse: Refuse, engine: string | undefined, allowed: string, inWords: string): void {
  if (engine === undefined || engine === allowed) return;
  refuse('engine', engine, allowed, `The ledger keeps its promise by ${inWords}’s own means.`);
}

function checkSecurityGroups(refuse: Refuse, count: number, importer: string): void {
  if (count > 0) return;
  refuse(
    'securityGroups',
    'empty',
    'the security groups of the server',
    `A consumer lets itself in by a rule of them: without any there is no rule, and it never connects. Give them to ${importer}.`,
  );
}

function refuseWithoutIam(refuse: Refuse): never {
  return refuse('iamAuthentication', 'off', 'on', 'Workers log in by IAM, without a password. Set it to true.');
}

/** The CDK throws where an imported cluster was not told something, also when it is only asked whether it was. */
function given<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
