/** Addresses of event hubs: `<hub>` and `<hub>/Partitions/<p>` to send, `<hub>/ConsumerGroups/<g>/Partitions/<p>` to read. */
import type { Sender } from 'rhea';
import type { EventHub, HubLink, LinkError } from './event-hub';
import type { EventLog, StartPosition } from './event-log';
import type { AmqpFaults } from './faults';
import { type Incoming, type Outlet, type Route, refuse } from './links';
import { PartitionLink } from './partition-link';
import { parseSelector, selectorText } from './selector';
import { receivedOf, take } from './sends';

const SEND = /^([^/]+)(?:\/Partitions\/([^/]+))?$/i;
const READ = /^([^/]+)\/ConsumerGroups\/([^/]+)\/Partitions\/([^/]+)$/i;
const MOST_READERS = 5;

export interface EventHubWorld {
  /** By name in lower case. */
  readonly hubs: ReadonlyMap<string, EventHub>;
  readonly faults: AmqpFaults;
  readonly now: () => number;
  /** Cuts a connection without a word. */
  cut(incoming: Incoming): void;
}

export function eventHubRoute(world: EventHubWorld): Route {
  return {
    inlet(address, link) {
      const [, name = '', partition] = SEND.exec(address) ?? [];
      const hub = world.hubs.get(name.toLowerCase());
      if (hub === undefined) return undefined;
      link.set_target({ address });
      if (partition !== undefined && !hub.partitions.has(partition)) return refuse(link, noPartition(hub));
      return (incoming) => receive(world, hub, partition, incoming);
    },
    outlet(address, link) {
      const [, name = '', group = '', partition = ''] = READ.exec(address) ?? [];
      const hub = world.hubs.get(name.toLowerCase());
      if (hub === undefined || !hub.hasGroup(group)) return undefined;
      const { filter } = link.source;
      link.set_source({ address, ...(filter === undefined ? {} : { filter }) });
      if (!hub.partitions.has(partition)) return refuse(link, noPartition(hub));
      return attach(world, hub, { group, partition, sender: link });
    },
  };
}

export function noPartition(hub: EventHub): LinkError {
  const range = `It should be between 0 and ${hub.partitions.size - 1}.`;
  const description = `The specified partition is invalid for an EventHub partition sender or receiver. ${range}`;
  return { condition: 'com.microsoft:argument-out-of-range', description };
}

function attach(
  world: EventHubWorld,
  hub: EventHub,
  place: { group: string; partition: string; sender: Sender },
): Outlet | 'closed' {
  const { sender, partition } = place;
  const text = selectorText(sender.source.filter);
  const position = parseSelector(text);
  if (position === undefined) {
    return refuse(sender, {
      condition: 'com.microsoft:argument-error',
      description: `The selector ${text} is not valid.`,
    });
  }
  const log = hub.partitions.get(partition);
  const beyond = log && beyondEnd(log, position);
  if (beyond !== undefined) return refuse(sender, beyond);
  const start = log?.find(position) ?? 0;
  const link = new PartitionLink({ hub, ...place, start, faults: world.faults, now: world.now });
  const others = [...hub.links].filter((other) => other.group === link.group && other.partition === link.partition);
  const higher = others.find(({ epoch }) => epoch !== undefined && (link.epoch === undefined || epoch > link.epoch));
  if (higher !== undefined) return refuse(sender, lowerThan(higher, link));
  // Equal epochs: the newest wins. A link without an epoch displaces nobody.
  if (link.epoch !== undefined) for (const other of others) other.end(stolenBy(link, other));
  else if (others.length >= MOST_READERS) return refuse(sender, tooMany(others));
  hub.attach(link);
  return link;
}

/** The service does not wait for numbers that it has not given yet: a hub that was made anew refuses the old one's. */
function beyondEnd({ last }: EventLog, { field, value }: StartPosition): LinkError | undefined {
  if (field === 'enqueued-time' || value === '@latest') return undefined;
  const [what, newest] =
    field === 'offset' ? ['offset', last?.offset ?? '-1'] : ['sequence number', String(last?.sequenceNumber ?? -1)];
  if (value <= Number(newest)) return undefined;
  const description = `The supplied ${what} '${value}' is invalid. The last ${what} in the system is '${newest}'`;
  return { condition: 'com.microsoft:argument-error', description };
}

function stolenBy(winner: HubLink, loser: HubLink): LinkError {
  const description =
    `New receiver '${winner.receiverName}' with higher epoch of '${winner.epoch}' is created hence current receiver ` +
    `'${loser.receiverName}' with epoch '${loser.epoch}' is getting disconnected. If you are recreating the receiver, ` +
    'make sure a higher epoch is used.';
  return { condition: 'amqp:link:stolen', description };
}

function lowerThan(holder: HubLink, newcomer: HubLink): LinkError {
  const description =
    `Receiver '${holder.receiverName}' with a higher epoch '${holder.epoch}' already exists. Receiver ` +
    `'${newcomer.receiverName}' with epoch ${newcomer.epoch} cannot be created. Make sure you are creating receiver ` +
    'with increasing epoch value to ensure connectivity, or ensure all old epoch receivers are closed or disconnected.';
  return { condition: 'amqp:link:stolen', description };
}

function tooMany(readers: readonly HubLink[]): LinkError {
  const names = readers.map(({ receiverName }) => receiverName).join(', ');
  const description =
    'Exceeded the maximum number of allowed receivers per partition in a consumer group which is ' +
    `${MOST_READERS}. List of connected receivers - ${names}.`;
  return { condition: 'amqp:resource-limit-exceeded', description };
}

function receive(world: EventHubWorld, hub: EventHub, partition: string | undefined, incoming: Incoming): void {
  const received = receivedOf(incoming);
  const { messages, annotations } = received;
  const key = annotations['x-opt-partition-key'];
  const target = partition ?? hub.choose(key === undefined || key === null ? undefined : String(key));
  const keep = () => {
    for (const { message, bytes } of messages) hub.append(target, message, bytes);
  };
  take({
    incoming,
    received,
    place: { entity: hub.name, partition: target },
    keep,
    faults: world.faults,
    cut: world.cut,
  });
  hub.pump(target);
}
