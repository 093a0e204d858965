/**
 * `npm run bench:broker`: how fast the local Event Hubs broker takes and gives events, by Microsoft's own client in the
 * same process, and how much memory it keeps.
 */
import { EventHubConsumerClient, EventHubProducerClient, earliestEventPosition } from '@azure/event-hubs';
import { startAmqpBroker } from '../test/emulators/amqp';

const EVENTS = Number(process.argv[2] ?? '200000');
const BATCH = 500;

async function main(): Promise<void> {
  const broker = await startAmqpBroker();
  broker.createHub('bench', { partitions: 4, capacity: 5_000 });
  const producer = new EventHubProducerClient(broker.connectionString, 'bench');
  const consumer = new EventHubConsumerClient('$Default', broker.connectionString, 'bench');
  const body = Buffer.from(JSON.stringify({ customer_id: 'acme', billing_period: '2026-10', amount_cents: 500 }));
  let received = 0;
  const subscription = consumer.subscribe(
    {
      processEvents: async (events) => {
        received += events.length;
      },
      processError: async (error) => console.error(error.message),
    },
    { startPosition: earliestEventPosition, maxBatchSize: 300, maxWaitTimeInSeconds: 1, skipParsingBodyAsJson: true },
  );
  const started = performance.now();
  const heap: number[] = [];
  for (let sent = 0; sent < EVENTS; sent += BATCH) {
    const batch = Array.from({ length: BATCH }, () => ({ body }));
    await producer.sendBatch(batch, { partitionId: String((sent / BATCH) % 4) });
    // A partition keeps 5,000: the reader must not fall behind further than that.
    while (sent - received > 10_000) await new Promise((resolve) => setTimeout(resolve, 5));
    if (sent % 20_000 === 0) heap.push(Math.round(process.memoryUsage().rss / 1024 / 1024));
  }
  while (received < EVENTS) await new Promise((resolve) => setTimeout(resolve, 10));
  const seconds = (performance.now() - started) / 1_000;
  console.log(
    `${received} events sent and received in ${seconds.toFixed(1)} s: ${Math.round(received / seconds)} events/s`,
  );
  console.log(`resident memory by 20,000 events, MiB: ${heap.join(' ')}`);
  await subscription.close();
  await Promise.all([producer.close(), consumer.close()]);
  await broker.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
