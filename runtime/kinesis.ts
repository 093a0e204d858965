/** What `chargeonce/runtime/kinesis` gives: Kinesis as a source of billing events, for a worker of your own. */
import './kinesis-peers';

export {
  type AwsClients,
  type AwsClientsOptions,
  awsClients,
  createKinesisSource,
  type InitialPosition,
  type KinesisSourceOptions,
} from './sources/kinesis';
