/** Addresses of queues: `<queue>` to send and to receive, `<queue>/$DeadLetterQueue` to receive. */
import type { Sender } from 'rhea';
import type { LinkError } from './event-hub';
import type { AmqpFaults } from './faults';
import { type Incoming, type Outlet, type Route, refuse } from './links';
import type { Queue } from './queue';
import { sessionOf } from './queue-entry';
import { QueueLink } from './queue-link';
import { rhea } from './rhea';
import { receivedOf, take } from './sends';

const SESSION_FILTER = 'com.microsoft:session-filter';
/** .NET counts time from the year 1, in units of 100 ns. */
const TICKS_AT_EPOCH = 621_355_968_000_000_000n;
const TICKS_PER_MS = 10_000n;

export interface QueueWorld {
  /** By path in lower case, dead letters too. */
  readonly queues: ReadonlyMap<string, Queue>;
  readonly faults: AmqpFaults;
  cut(incoming: Pick<Incoming, 'connection'>): void;
}

export function queueRoute(world: QueueWorld): Route {
  return {
    inlet(address, link) {
      const queue = world.queues.get(address.toLowerCase());
      if (queue === undefined) return undefined;
      link.set_target({ address });
      if (queue.deadLetters === undefined) return refuse(link, notAllowed('Dead letters cannot be sent to.'));
      return (incoming) => receive(world, queue, incoming);
    },
    outlet(address, link) {
      const queue = world.queues.get(address.toLowerCase());
      return queue === undefined ? undefined : attach(world, queue, address, link);
    },
  };
}

function receive({ faults, cut }: QueueWorld, queue: Queue, incoming: Incoming): void {
  const received = receivedOf(incoming);
  const { messages } = received;
  if (queue.requiresSession && messages.some(({ message }) => sessionOf(message) === undefined)) {
    incoming.delivery.reject(notAllowed('The SessionId was not set on a message, and this entity requires sessions.'));
    return;
  }
  const keep = () => {
    for (const { message } of messages) queue.enqueue(message);
  };
  take({ incoming, received, place: { entity: queue.name }, faults, cut, keep });
}

function attach(world: QueueWorld, queue: Queue, address: string, sender: Sender): Outlet | 'closed' {
  const filter = sender.source.filter as Record<string, unknown> | undefined;
  const wantsSession = filter !== undefined && SESSION_FILTER in filter;
  const session = wantsSession ? sessionFor(queue, filter[SESSION_FILTER]) : undefined;
  sender.set_source({ address, ...(typeof session === 'string' ? { filter: { [SESSION_FILTER]: session } } : {}) });
  if (wantsSession !== queue.requiresSession) {
    const [have, want] = wantsSession ? ['does not require', 'sessionful'] : ['requires', 'non-sessionful'];
    return refuse(sender, notAllowed(`An entity that ${have} sessions takes no ${want} message receiver.`));
  }
  if (typeof session === 'object') return refuse(sender, session);
  const { faults } = world;
  const link = new QueueLink({ queue, sender, faults, session, cut: () => world.cut(sender) });
  if (session !== undefined) sayLocked(sender, queue.sessions.lockedUntil(session) ?? 0);
  return link;
}

/** The session that was asked for, or the first free one that has messages. */
function sessionFor(queue: Queue, wanted: unknown): string | LinkError {
  if (wanted === undefined || wanted === null) {
    const free = queue.waitingSessions().find((id) => queue.sessions.isFree(id));
    return free ?? { condition: 'com.microsoft:timeout', description: 'No session with messages became available.' };
  }
  const id = String(wanted);
  if (queue.sessions.isFree(id)) return id;
  const description = `The requested session '${id}' cannot be accepted. It may be locked by another receiver.`;
  return { condition: 'com.microsoft:session-cannot-be-locked', description };
}

function sayLocked(sender: Sender, until: number): void {
  const ticks = Buffer.alloc(8);
  ticks.writeBigInt64BE(BigInt(until) * TICKS_PER_MS + TICKS_AT_EPOCH);
  const { attach: own } = (sender as unknown as { local: { attach: { properties?: object } } }).local;
  own.properties = { 'com.microsoft:locked-until-utc': rhea().types.wrap_long(ticks as never) };
}

function notAllowed(description: string): LinkError {
  return { condition: 'amqp:not-allowed', description };
}
