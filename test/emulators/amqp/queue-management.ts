/** `<queue>/$management`: peek, schedule, locks, deferred messages, session state. */
import { randomUUID } from 'node:crypto';
import type { AmqpMessage } from './event-log';
import { type Route, SILENT_OUTLET } from './links';
import { format } from './lock-token';
import type { Queue } from './queue';
import { decoded, encoded } from './queue-message';
import { type Answer, answer, failure, propertiesOf, success } from './requests';
import { rhea } from './rhea';

const ADDRESS = /^(.+)\/\$management$/i;
const PREFIX = 'com.microsoft:';
const LONG_ARRAY = 0x81;
const TIMESTAMP_ARRAY = 0x83;
const RECEIVE_AND_DELETE = 0;

type Body = Readonly<Record<string, unknown>>;
type Operation = (queue: Queue, body: Body) => Answer;

export function queueManagementRoute(queues: ReadonlyMap<string, Queue>): Route {
  const queueAt = (address: string) => queues.get(ADDRESS.exec(address)?.[1]?.toLowerCase() ?? '');
  return {
    inlet(address, link) {
      const queue = queueAt(address);
      if (queue === undefined) return undefined;
      link.set_target({ address });
      return ({ connection, delivery, message }) => {
        delivery.accept();
        answer(connection, message, respond(queue, message));
      };
    },
    outlet(address, link) {
      if (queueAt(address) === undefined) return undefined;
      link.set_source({ address });
      return SILENT_OUTLET;
    },
  };
}

function respond(queue: Queue, request: AmqpMessage): Answer {
  const name = String(propertiesOf(request).operation);
  const operation = OPERATIONS[name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name];
  if (operation === undefined) return failure(501, 'amqp:not-implemented', `${name} is not an operation here.`);
  return operation(queue, (request.body ?? {}) as Body);
}

const lockLost = () =>
  failure(
    410,
    'com.microsoft:message-lock-lost',
    'The lock supplied is invalid. Either it expired, or it is not known.',
  );
const sessionLost = () => failure(410, 'com.microsoft:session-lock-lost', 'The session lock has expired.');
const notFound = () => failure(404, 'com.microsoft:message-not-found', 'A message with that number was not found.');

const OPERATIONS: Readonly<Record<string, Operation>> = {
  'renew-lock'(queue, body) {
    const locks = tokensOf(body).map((token) => queue.renew(token));
    if (locks.includes(undefined)) return lockLost();
    const expirations = locks.map((lock) => lock?.until ?? 0);
    return success({ expirations: rhea().types.wrap_array(expirations, TIMESTAMP_ARRAY, undefined) });
  },
  'update-disposition'(queue, body) {
    const settle = settlement(queue, body);
    if (settle === undefined) {
      return failure(400, 'amqp:not-implemented', `There is no disposition ${body['disposition-status']}.`);
    }
    return tokensOf(body).map(settle).includes(false) ? lockLost() : success(null);
  },
  'peek-message'(queue, body) {
    const session = body['session-id'] ?? undefined;
    const from = numberOf(body['from-sequence-number']);
    const found = queue.peek(from, Number(body['message-count']), session === undefined ? undefined : String(session));
    if (found.length === 0) return success(null, 204);
    return success({ messages: found.map((entry) => rhea().types.wrap_map({ message: encoded(entry) })) });
  },
  'schedule-message'(queue, body) {
    const messages = body.messages as { message: Buffer }[];
    // A duplicate gets the number 0: it has no place in the queue.
    const numbers = messages.map(({ message }) => queue.enqueue(decoded(message)) ?? 0);
    return success({ 'sequence-numbers': rhea().types.wrap_array(numbers, LONG_ARRAY, undefined) });
  },
  'cancel-scheduled-message'(queue, body) {
    return queue.cancel(numbersOf(body)) ? success(null) : notFound();
  },
  'receive-by-sequence-number'(queue, body) {
    const { types } = rhea();
    const found = queue.takeDeferred(numbersOf(body), randomUUID);
    if (found === undefined || found.length === 0) return notFound();
    const messages = found.map((entry) => {
      const lock = Buffer.from(String(entry.token).replaceAll('-', ''), 'hex');
      return types.wrap_map({ message: encoded(entry), 'lock-token': types.wrap_uuid(lock as never) });
    });
    if (Number(body['receiver-settle-mode']) === RECEIVE_AND_DELETE) {
      for (const { token } of found) queue.complete(String(token));
    }
    return success({ messages });
  },
  'renew-session-lock'(queue, body) {
    const until = queue.sessions.renew(String(body['session-id']));
    return until === undefined ? sessionLost() : success({ expiration: rhea().types.wrap_timestamp(until) });
  },
  'get-session-state'(queue, body) {
    const state = queue.sessions.state(String(body['session-id']));
    return success({ 'session-state': state === undefined ? null : rhea().types.wrap_binary(state as never) });
  },
  'set-session-state'(queue, body) {
    const state = body['session-state'];
    queue.sessions.setState(String(body['session-id']), Buffer.isBuffer(state) ? Buffer.from(state) : undefined);
    return success(null);
  },
};

function settlement(queue: Queue, body: Body): ((token: string) => boolean) | undefined {
  const properties = (body['properties-to-modify'] ?? {}) as Record<string, unknown>;
  const text = (name: string) => (body[name] === undefined || body[name] === null ? undefined : String(body[name]));
  switch (body['disposition-status']) {
    case 'completed':
      return (token) => queue.complete(token);
    case 'abandoned':
      return (token) => queue.abandon(token, properties);
    case 'defered':
      return (token) => queue.defer(token, properties);
    case 'suspended':
      return (token) =>
        queue.deadLetter(token, {
          reason: text('deadletter-reason'),
          description: text('deadletter-description'),
          properties,
        });
    default:
      return undefined;
  }
}

const tokensOf = (body: Body): string[] => (body['lock-tokens'] as Buffer[]).map((token) => format(Buffer.from(token)));
const numbersOf = (body: Body): number[] => (body['sequence-numbers'] as unknown[]).map(numberOf);
/** Numbers that the library does not trust itself with come as bytes. */
const numberOf = (value: unknown): number => (Buffer.isBuffer(value) ? Number(value.readBigInt64BE()) : Number(value));
