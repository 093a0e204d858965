/** From a worker's line of metrics to somebody's pager: what CloudWatch Logs, CloudWatch and SNS do in between. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type MetricDatum, PutMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import { ConfirmSubscriptionCommand, SubscribeCommand } from '@aws-sdk/client-sns';
import type { AwsClients } from './clients';

export interface Metric extends MetricDatum {
  readonly Namespace: string;
}

interface EmbeddedMetrics {
  readonly _aws: {
    readonly Timestamp: number;
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string }[];
    }[];
  };
  readonly [name: string]: unknown;
}

/** Metrics in the embedded format, as CloudWatch Logs takes them from a log. */
export function metricsOf(log: string): Metric[] {
  const lines = log.split('\n').filter((line) => line.includes('"_aws"'));
  return lines.flatMap((text) => {
    const line = JSON.parse(text) as EmbeddedMetrics;
    const { Timestamp, CloudWatchMetrics } = line._aws;
    return CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }) =>
      Dimensions.flatMap((set) =>
        Metrics.map(({ Name }) => ({
          Namespace,
          MetricName: Name,
          Value: Number(line[Name]),
          Timestamp: new Date(Timestamp),
          Dimensions: set.map((dimension) => ({ Name: dimension, Value: String(line[dimension]) })),
        })),
      ),
    );
  });
}

export async function send({ cloudWatch }: AwsClients, { Namespace, ...datum }: Metric): Promise<void> {
  await cloudWatch.send(new PutMetricDataCommand({ Namespace, MetricData: [datum] }));
}

export interface Pager {
  /** What it was told, in order. */
  rang(): Record<string, unknown>[];
  close(): Promise<void>;
}

/** Subscribes to a topic, as a pager does. */
export async function startPager({ sns }: AwsClients, TopicArn: string): Promise<Pager> {
  const rang: Record<string, unknown>[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { Type, Token, Message } = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, string>;
    response.end();
    if (Type === 'SubscriptionConfirmation') await sns.send(new ConfirmSubscriptionCommand({ TopicArn, Token }));
    if (Type === 'Notification') rang.push(JSON.parse(Message!) as Record<string, unknown>);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const Endpoint = `http://127.0.0.1:${port}/`;
  await sns.send(new SubscribeCommand({ TopicArn, Protocol: 'http', Endpoint }));
  return {
    rang: () => rang,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
