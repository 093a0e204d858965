/** Kinesis as a source of billing events. */
export { type AwsClients, type AwsClientsOptions, awsClients } from './aws-clients';
export type { InitialPosition } from './positions';
export { createKinesisSource, type KinesisSourceOptions } from './source';
