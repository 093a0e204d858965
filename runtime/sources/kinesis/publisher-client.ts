/** The client the command line publishes with. */
import { KinesisClient } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';

export interface PublisherClientOptions {
  /** Absent: the SDK's own chain (AWS_REGION, the profile). */
  readonly region?: string;
  /** Absent: AWS, or AWS_ENDPOINT_URL_KINESIS. */
  readonly endpoint?: string;
}

/** HTTP/1.1 with deadlines; retries off, because the publisher retries by entry. */
export function createPublisherClient(options: PublisherClientOptions): KinesisClient {
  return new KinesisClient({
    ...(options.region === undefined ? {} : { region: options.region }),
    ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({ connectionTimeout: 5_000, requestTimeout: 30_000 }),
  });
}
