/** A database that is made elsewhere, for tests that only need some. */
import type { Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as rds from 'aws-cdk-lib/aws-rds';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';

export const ownerIn = (stack: Stack) => secrets.Secret.fromSecretNameV2(stack, 'Owner', 'ledger/owner');

export const groupIn = (stack: Stack) => ec2.SecurityGroup.fromSecurityGroupId(stack, 'DatabaseGroup', 'sg-1');

export const databaseIn = (stack: Stack) =>
  rds.DatabaseInstance.fromDatabaseInstanceAttributes(stack, 'Database', {
    instanceIdentifier: 'billing',
    instanceEndpointAddress: 'billing.example.test',
    port: 5432,
    instanceResourceId: 'db-ABCDEFGHIJKLMNOPQRSTUVWXYZ',
    securityGroups: [groupIn(stack)],
  });
