/**
 * The same cases for the local broker and for Microsoft's own: the latter when a connection string is set, to a hub of two
 * partitions with one more consumer group, both of which may be named.
 */
import { type ConformanceTarget, conformance } from '../../support/event-hubs/conformance';
import { type AmqpBroker, startAmqpBroker } from '.';

let broker: AmqpBroker;
const local: ConformanceTarget = {
  name: 'the local broker',
  async start() {
    broker = await startAmqpBroker();
    broker.createHub('usage', { partitions: 2, consumerGroups: ['chargeonce'] });
    return { connectionString: broker.connectionString, hub: 'usage', group: 'chargeonce' };
  },
  stop: () => broker.close(),
};

conformance(local);

const others = [
  { name: 'Microsoft’s Event Hubs emulator', prefix: 'EVENTHUBS_EMULATOR', hub: 'eh1', group: 'cg1' },
  { name: 'an Event Hubs namespace', prefix: 'EVENTHUBS_LIVE', hub: 'usage', group: 'chargeonce' },
];
for (const { name, prefix, ...names } of others) {
  const variable = `${prefix}_CONNECTION_STRING`;
  const connectionString = process.env[variable];
  if (connectionString === undefined) {
    console.log(`${name}: not run here, ${variable} is not set`);
    continue;
  }
  const hub = process.env[`${prefix}_HUB`] ?? names.hub;
  const group = process.env[`${prefix}_CONSUMER_GROUP`] ?? names.group;
  conformance({ name, start: async () => ({ connectionString, hub, group }), stop: async () => undefined });
}
