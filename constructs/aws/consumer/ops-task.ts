import * as iam from 'aws-cdk-lib/aws-iam';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import { ManualTask } from './manual-task';

/**
 * The task for people on call: any verb of `chargeonce` next to the private ledger. It reaches the ledger and Stripe,
 * and neither the stream nor the lease table, so that no worker can be started by mistake. `command` asks for
 * `--help`; put the verb you need there.
 */
export class OpsTask extends ManualTask {
  /** Lets the task read the archived events in a bucket, and nothing else in it or of it: for replays, in a later version. */
  grantReplay(bucket: s3.IBucket): iam.Grant {
    bucket.encryptionKey?.grantDecrypt(this.taskRole);
    const read = (actions: string[], arn: string) =>
      iam.Grant.addToPrincipalOrResource({ grantee: this.taskRole, actions, resourceArns: [arn], resource: bucket });
    return read(['s3:GetObject'], bucket.arnForObjects('*')).combine(read(['s3:ListBucket'], bucket.bucketArn));
  }
}
