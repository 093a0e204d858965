/** Addresses of event hubs: `<hub>` and `<hub>/Partitions/<p>` to send, `<hub>/ConsumerGroups/<g>/Partitions/<p>` to read. */
import { type AmqpError, message as codec, type Sender } from 'rhea';
import type { EventHub } from './event-hub';
import type { AmqpMessage } from './event-log';
import type { AmqpFaults } from './faults';
import type { Incoming, Outlet, Route } from './links';
import { PartitionLink } from './partition-link';
import { parseSelector, selectorText } from './selector';

const SEND = /^([^/]+)(?:\/Partitions\/([^/]+))?$/i;
const READ = /^([^/]+)\/ConsumerGroups\/([^/]+)\/Partitions\/([^/]+)$/i;
const BUSY = { condition: 'com.microsoft:server-busy', description: 'The request was throttled. Try again in 4 s.' };

export interface EventHubWorld {
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
      if (hub === undefined || (partition !== undefined && !hub.partitions.has(partition))) return undefined;
      link.set_target({ address });
      return (incoming) => receive(world, hub, partition, incoming);
    },
    outlet(address, link) {
      const [, name = '', group = '', partition = ''] = READ.exec(address) ?? [];
      const hub = world.hubs.get(name.toLowerCase());
      if (hub === undefined || !hub.hasGroup(group) || !hub.partitions.has(partition)) return undefined;
      const { filter } = link.source;
      link.set_source({ address, ...(filter === undefined ? {} : { filter }) });
      return attach(world, hub, { group, partition, sender: link });
    },
  };
}

function attach(
  world: EventHubWorld,
  hub: EventHub,
  place: { group: string; partition: string; sender: Sender },
): Outlet | 'closed' {
  const { sender, partition } = place;
  const refuse = (error: AmqpError): 'closed' => {
    sender.close(error);
    return 'closed';
  };
  const text = selectorText(sender.source.filter);
  const position = parseSelector(text);
  if (position === undefined) {
    return refuse({ condition: 'com.microsoft:argument-error', description: `The selector ${text} is not valid.` });
  }
  const start = hub.partitions.get(partition)?.find(position) ?? 0;
  const link = new PartitionLink({ hub, ...place, start, faults: world.faults, now: world.now });
  const others = [...hub.links].filter((other) => other.group === link.group && other.partition === link.partition);
  const higher = others.find(({ epoch }) => epoch !== undefined && (link.epoch === undefined || epoch > link.epoch));
  if (higher !== undefined) return refuse(stolenBy(higher, link));
  // Equal epochs: the newest wins. A link without an epoch displaces nobody.
  if (link.epoch !== undefined) for (const other of others) other.end(stolenBy(link, other));
  hub.links.add(link);
  return link;
}

function stolenBy(winner: PartitionLink, loser: PartitionLink): AmqpError {
  const description =
    `New receiver '${winner.receiverName}' with higher epoch of '${winner.epoch}' is created hence current receiver ` +
    `'${loser.receiverName}' with epoch '${loser.epoch}' is getting disconnected.`;
  return { condition: 'amqp:link:stolen', description };
}

function receive(world: EventHubWorld, hub: EventHub, partition: string | undefined, incoming: Incoming): void {
  const { faults } = world;
  const fault = faults.takeSend(hub.name);
  if (fault === 'busy') {
    incoming.delivery.reject(BUSY);
    return;
  }
  const { events, key } = eventsOf(incoming);
  const target = partition ?? hub.choose(key);
  for (const { message, bytes } of events) hub.append(target, message, bytes);
  if (fault === 'lose-ack') world.cut(incoming);
  else if (faults.delayMs > 0) setTimeout(() => incoming.delivery.accept(), faults.delayMs);
  else incoming.delivery.accept();
  hub.pump(target);
}

interface Received {
  readonly message: AmqpMessage;
  readonly bytes: number;
}

function eventsOf({ batch, message }: Incoming): { events: Received[]; key: string | undefined } {
  if (batch === undefined) return { events: [{ message, bytes: codec.encode(message).length }], key: keyOf(message) };
  const envelope = codec.decode(batch) as AmqpMessage;
  const body = envelope.body as { multiple?: boolean; content: Buffer | Buffer[] };
  const parts = (body.multiple ? body.content : [body.content]) as Buffer[];
  // A copy: a part is a window onto the bytes of the whole frame, which it would keep alive.
  const events = parts.map((part) => ({ message: codec.decode(Buffer.from(part)) as AmqpMessage, bytes: part.length }));
  return { events, key: keyOf(envelope) };
}

function keyOf(message: AmqpMessage): string | undefined {
  const key = message.message_annotations?.['x-opt-partition-key'];
  return key === undefined || key === null ? undefined : String(key);
}
