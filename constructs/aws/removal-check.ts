import { RemovalPolicy } from 'aws-cdk-lib';
import { wrongProp } from '../shared/check';

/** @throws when a snapshot is asked of what CloudFormation takes none of: the deploy would fail, not the synth */
export function refuseSnapshot(path: string, removalPolicy: RemovalPolicy | undefined): void {
  if (removalPolicy !== RemovalPolicy.SNAPSHOT) return;
  throw wrongProp({
    path,
    prop: 'removalPolicy',
    received: 'SNAPSHOT',
    allowed: 'RETAIN, RETAIN_ON_UPDATE_OR_DELETE, DESTROY',
    wayOut: 'Only a LedgerDatabase can leave a snapshot behind: give that one a removalPolicy of its own.',
  });
}
