/** Where the tasks of a consumer run, and whether they can reach Stripe from there. */
import { Annotations, Token } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';
import { wrongProp } from '../../shared/check';
import { LedgerDatabase } from '../ledger/ledger-database';
import type { ILedgerDatabase } from '../ledger/ledger-login';
import type { BillingConsumerProps } from './billing-consumer-props';

const ALLOWED = 'private subnets with egress';
const LEAVE_OUT = 'Leave it out for PRIVATE_WITH_EGRESS.';
const WHY_NOT = {
  isolated: 'Isolated subnets have no way to Stripe.',
  public: 'In public subnets only tasks with public addresses have a way to Stripe, and these never get one.',
};

/** @throws when it is not clear where the tasks run */
export function checkPlace(path: string, { cluster, vpc }: Pick<BillingConsumerProps, 'cluster' | 'vpc'>): ec2.IVpc {
  const network = cluster === undefined ? vpc : cluster.vpc;
  if (network === undefined || (cluster !== undefined && vpc !== undefined)) {
    throw wrongProp({
      path,
      prop: 'cluster, vpc',
      received: cluster ? 'both given' : 'neither given',
      allowed: 'exactly one of the two',
      wayOut: 'Give the cluster to run in, or the vpc in which a cluster shall be made.',
    });
  }
  return network;
}

/** @throws when a subnet is isolated, or public (tasks have no public address), or there is none at all */
export function egressSubnets(
  path: string,
  vpc: ec2.IVpc,
  given: ec2.SubnetSelection | undefined,
): ec2.SelectedSubnets {
  const wrong = (received: string, why: string) =>
    wrongProp({ path, prop: 'vpcSubnets', received, allowed: ALLOWED, wayOut: `${why} ${LEAVE_OUT}` });
  if (given?.subnetType === ec2.SubnetType.PRIVATE_ISOLATED) throw wrong('PRIVATE_ISOLATED', WHY_NOT.isolated);
  if (given?.subnetType === ec2.SubnetType.PUBLIC) throw wrong('PUBLIC', WHY_NOT.public);
  const selection = given ?? { subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS };
  if (selection.subnetType === ec2.SubnetType.PRIVATE_WITH_EGRESS && vpc.privateSubnets.length === 0) {
    throw noPrivateSubnets(path, vpc);
  }

  const selected = vpc.selectSubnets(selection);
  if (selected.subnets.length === 0) throw wrong('a selection of no subnets', 'Tasks would have no place.');
  for (const kind of ['isolated', 'public'] as const) {
    const found = selected.subnets.filter((subnet) => isOneOf(subnet, vpc[`${kind}Subnets`]));
    const paths = found.map((subnet) => subnet.node.path).join(', ');
    if (found.length > 0) throw wrong(`a selection of ${kind} subnets: ${paths}`, WHY_NOT[kind]);
  }
  return selected;
}

function noPrivateSubnets(path: string, { isolatedSubnets, publicSubnets }: ec2.IVpc): Error {
  return wrongProp({
    path,
    prop: 'vpcSubnets',
    received: `PRIVATE_WITH_EGRESS, and of the VPC’s subnets ${isolatedSubnets.length} are isolated, ${publicSubnets.length} public`,
    allowed: ALLOWED,
    wayOut: 'No others have a way to Stripe. Give a VPC with private subnets behind a NAT gateway or another way out.',
  });
}

/** The very subnet, or another import of it. */
function isOneOf(subnet: ec2.ISubnet, subnets: readonly ec2.ISubnet[]): boolean {
  return subnets.some((each) => each === subnet || each.subnetId === subnet.subnetId);
}

/** Warns when the ledger certainly is in another VPC, where its security group cannot name the tasks' one. */
export function warnOfOtherVpc(scope: Construct, vpc: ec2.IVpc, ledger: ILedgerDatabase): void {
  if (!(ledger instanceof LedgerDatabase)) return;
  const theirs = ledger.instance.vpc;
  const known = (each: ec2.IVpc) => each instanceof ec2.Vpc || !Token.isUnresolved(each.vpcId);
  if (theirs === vpc || theirs.vpcId === vpc.vpcId || !known(theirs) || !known(vpc)) return;
  Annotations.of(scope).addWarningV2(
    'chargeonce:ledger-in-another-vpc',
    `The tasks run in ${vpc.node.path}, the ledger in ${theirs.node.path}: without peering they never meet.`,
  );
}
