import { Token } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { ENVIRONMENT } from '../../runtime/contract';
import { wrongProp } from '../shared/check';
import type { BillingConsumerProps } from './billing-consumer-props';

/** Settings that would contradict what the construct wired, beside those it sets itself. */
const OWNED_UNSET = [
  ENVIRONMENT.DATABASE_URL,
  ENVIRONMENT.DATABASE_AUTH,
  ENVIRONMENT.DATABASE_SECRET_ARN,
  ENVIRONMENT.PGUSER,
  ENVIRONMENT.PGPASSWORD,
  ENVIRONMENT.PGPASSWORD_FILE,
  ENVIRONMENT.STRIPE_API_KEY,
  ENVIRONMENT.SPEND_CAP_DEFAULT,
  ENVIRONMENT.STREAM_ARN,
  ENVIRONMENT.WORKER_ID,
  ENVIRONMENT.CHARGEONCE_CRASH_AT,
] as const;

/** @throws when `environment` names something that the construct sets or wires itself */
export function checkOwnNames(path: string, given: Readonly<Record<string, string>>, ours: readonly string[]): void {
  const owned = new Set<string>([...ours, ...OWNED_UNSET]);
  for (const name of Object.keys(given)) {
    if (owned.has(name)) {
      throw wrongProp({
        path,
        prop: 'environment',
        received: `a map with ${name}`,
        allowed: 'names the construct does not set itself',
        wayOut: `Leave ${name} out: its value follows from the other props.`,
      });
    }
  }
}

/** @throws when it is not clear where the tasks run, or when they could not reach Stripe from there */
export function checkNetwork(path: string, props: Pick<BillingConsumerProps, 'cluster' | 'vpc' | 'vpcSubnets'>): void {
  if ((props.cluster === undefined) === (props.vpc === undefined)) {
    throw wrongProp({
      path,
      prop: 'cluster, vpc',
      received: props.cluster ? 'both given' : 'neither given',
      allowed: 'exactly one of the two',
      wayOut: 'Give the cluster to run in, or the vpc in which a cluster shall be made.',
    });
  }
  if (props.vpcSubnets?.subnetType === ec2.SubnetType.PRIVATE_ISOLATED) {
    throw wrongProp({
      path,
      prop: 'vpcSubnets',
      received: 'PRIVATE_ISOLATED',
      allowed: 'subnets with egress',
      wayOut: 'Isolated subnets have no way to Stripe. Leave it out for PRIVATE_WITH_EGRESS.',
    });
  }
}

/** @throws when the number of tasks is unknown at synth, no whole number, or above the number of shards */
export function checkDesiredCount(path: string, desiredCount: number, shardCount: number | undefined): void {
  const prop = 'desiredCount';
  if (Token.isUnresolved(desiredCount)) {
    const wayOut = 'Each task’s share of Stripe’s rate is worked out from it.';
    throw wrongProp({ path, prop, received: 'a token', allowed: 'a number known at synth', wayOut });
  }
  const received = String(desiredCount);
  if (!Number.isInteger(desiredCount) || desiredCount < 0) {
    throw wrongProp({ path, prop, received, allowed: 'a whole number from 0', wayOut: 'Leave it out for 2.' });
  }
  if (shardCount !== undefined && !Token.isUnresolved(shardCount) && desiredCount > shardCount) {
    const wayOut = 'A shard is read by one task at a time; the others would idle. Add shards or run fewer tasks.';
    throw wrongProp({ path, prop, received, allowed: `at most ${shardCount}, the shards`, wayOut });
  }
}
