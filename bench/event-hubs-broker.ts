/**
 * `npm run bench:broker`: how fast the local Event Hubs broker takes and gives events, by Microsoft's own client in the
 * same process, and what it keeps in memory after each tenth of them.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { EventHubConsumerClient, EventHubProducerClient, earliestEventPosition } from '@azure/event-hubs';
import { startAmqpBroker } from '../test/emulators/amqp';

const EVENTS = Number(process.argv[2] ?? '200000');
const BATCH = 500;
const PARTITIONS = 4;
/** A partition keeps this many: the reader must not fall further behind. */
const CAPACITY = 5_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** MiB in use, once the garbage is gone. */
function memory(): string {
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  return [heapUsed + external, rss].map((bytes) => String(Math.round(bytes / 1024 / 1024)).padStart(10)).join('');
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function main(): Promise<void> {
  const broker = await startAmqpBroker();
  broker.createHub('bench', { partitions: PARTITIONS, capacity: CAPACITY });
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
  console.log('  events   events/s  live MiB  resident MiB');
  const cpuBefore = process.cpuUsage();
  let seconds = 0;
  let sent = 0;
  for (let tenth = 1; tenth <= 10; tenth++) {
    const started = performance.now();
    for (; sent < (EVENTS * tenth) / 10; sent += BATCH) {
      const batch = Array.from({ length: BATCH }, () => ({ body }));
      await producer.sendBatch(batch, { partitionId: String((sent / BATCH) % PARTITIONS) });
      while (sent - received > CAPACITY) await pause(1);
    }
    while (received < sent) await pause(1);
    const took = (performance.now() - started) / 1_000;
    seconds += took;
    console.log(`${String(received).padStart(8)}${String(Math.round(EVENTS / 10 / took)).padStart(11)}${memory()}`);
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  const busy = (user + system) / 1_000_000;
  console.log(`${received} events sent and received: ${Math.round(received / seconds)} events/s`);
  // Says the same on a machine that does something else as well; the clients' share is in it.
  console.log(`${Math.round(received / busy)} events for each second of processor time`);
  await subscription.close();
  await Promise.all([producer.close(), consumer.close()]);
  await broker.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
