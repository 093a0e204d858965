/**
 * A database whose password RDS keeps itself is imported by that secret. Its name is one that only AWS may give, with an
 * exclamation mark: synth and deploy go through, and every worker refuses its own setting when it starts.
 */
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { expect, it } from 'vitest';
import { LedgerDatabase } from '../../constructs/aws';
import { readDatabaseConfig } from '../../runtime/config';
import { newStack } from '../aws/stack';

const SECRETS = 'arn:aws:secretsmanager:eu-west-1:111111111111:secret';
/** As Secrets Manager names them: by hand, and in the name of a service. */
const NAMES = [
  'billing/ledger_owner+eu=1.2@3-AbCdEf',
  'rds!db-1f0c9f3e-3c5d-4d3e-9b0a-8f6f2f9f3a11-AbCdEf',
  'rds!cluster-1f0c9f3e-3c5d-4d3e-9b0a-8f6f2f9f3a11-AbCdEf',
];

it.each(NAMES)('a worker takes the secret %s that its construct names', (name) => {
  const stack = newStack('Billing', { env: { account: '111111111111', region: 'eu-west-1' } });
  const ledger = LedgerDatabase.fromSecret(stack, 'Ledger', {
    secret: secrets.Secret.fromSecretCompleteArn(stack, 'Secret', `${SECRETS}:${name}`),
    securityGroup: ec2.SecurityGroup.fromSecurityGroupId(stack, 'Group', 'sg-ledger'),
    // Of these RDS writes nothing into its secret.
    host: 'ledger.abc.eu-west-1.rds.amazonaws.com',
    port: 5432,
    databaseName: 'ledger',
  });
  expect(readDatabaseConfig({ PGHOST: ledger.endpoint.hostname, ...ledger.workerLogin.environment })).toMatchObject({
    ok: true,
    config: { login: { method: 'secret', secretArn: `${SECRETS}:${name}` } },
  });
});
