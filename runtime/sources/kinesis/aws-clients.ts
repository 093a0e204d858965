/** The two AWS clients of the source: plain HTTP/1.1, explicit timeouts, no retries of their own. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KinesisClient } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';

export interface AwsClientsOptions {
  /** Default: what the SDK finds in its environment. */
  readonly region?: string;
  readonly kinesisEndpoint?: string;
  readonly dynamodbEndpoint?: string;
  /** Timeouts derive from it: a lease write must fail, and be tried again, well before the lease ends. */
  readonly leaseDurationMs: number;
}

export interface AwsClients {
  readonly kinesis: KinesisClient;
  readonly dynamodb: DynamoDBClient;
  /** Closes idle connections. */
  destroy(): void;
}

/**
 * Credentials come from the SDK's default chain. `maxAttempts` is 1: the source decides what a failure means,
 * and a re-sent conditional write would look like a lease lost to somebody else.
 */
export function awsClients(options: AwsClientsOptions): AwsClients {
  const { region, kinesisEndpoint, dynamodbEndpoint, leaseDurationMs } = options;
  const leaseTimeoutMs = Math.min(2_000, Math.max(250, Math.floor(leaseDurationMs / 5)));
  const readTimeoutMs = Math.min(8_000, Math.max(1_000, Math.floor(leaseDurationMs * 0.8)));
  const kinesis = new KinesisClient({
    ...(region ? { region } : {}),
    ...(kinesisEndpoint ? { endpoint: kinesisEndpoint } : {}),
    maxAttempts: 1,
    requestHandler: handler(readTimeoutMs),
  });
  const dynamodb = new DynamoDBClient({
    ...(region ? { region } : {}),
    ...(dynamodbEndpoint ? { endpoint: dynamodbEndpoint } : {}),
    maxAttempts: 1,
    requestHandler: handler(leaseTimeoutMs),
  });
  return {
    kinesis,
    dynamodb,
    destroy: () => {
      kinesis.destroy();
      dynamodb.destroy();
    },
  };
}

function handler(timeoutMs: number): NodeHttpHandler {
  return new NodeHttpHandler({
    connectionTimeout: Math.min(1_000, timeoutMs),
    requestTimeout: timeoutMs,
    throwOnRequestTimeout: true,
    httpAgent: { keepAlive: true, maxSockets: 64 },
    httpsAgent: { keepAlive: true, maxSockets: 64 },
  });
}
