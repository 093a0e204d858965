import { Annotations, Stack, Token } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { ENVIRONMENT, RDS_ROOT_REGIONS } from '../../../runtime/contract';
import type { BillingConsumerProps } from '../consumer/billing-consumer-props';

/**
 * Warns when the ledger certainly is a server of RDS whose certificate no task could verify: the deploy would end after
 * minutes, with tasks that cannot reach a database that is there.
 */
export function warnOfUnknownRoots(
  scope: Construct,
  { ledger, environment = {} }: Pick<BillingConsumerProps, 'ledger' | 'environment'>,
): void {
  if ((ledger.instance ?? ledger.cluster) === undefined || environment[ENVIRONMENT.PGSSLROOTCERT] !== undefined) return;
  const { region } = Stack.of(scope);
  if (Token.isUnresolved(region) || RDS_ROOT_REGIONS.includes(region)) return;
  Annotations.of(scope).addWarningV2(
    'chargeonce:unknown-rds-roots',
    `The packaged image does not bring the certificates of RDS in ${region}, so no task would trust the ledger. Give an ` +
      'image made FROM it that holds the bundle AWS publishes for that region, and name the file in its ' +
      'ENV PGSSLROOTCERT, or in environment. If the image does that already, acknowledge this warning.',
  );
}
