/** Requests and their answers: an answer goes to the link that the request names. */
import type { Connection, Sender } from 'rhea';
import type { AmqpMessage } from './event-log';
import { rhea } from './rhea';

export interface Answer {
  readonly properties: Record<string, unknown>;
  readonly body?: unknown;
}

/** Answers a request on its connection. A client that closed its link meanwhile gets nothing. */
export function answer(connection: Connection, request: AmqpMessage, { properties, body = null }: Answer): void {
  if (!connection.is_open()) return;
  const replyTo = request.reply_to;
  const link: Sender | undefined = connection.find_sender(
    (sender: Sender) => sender.name === replyTo || sender.target?.address === replyTo,
  );
  link?.send({ correlation_id: request.message_id, application_properties: properties, body } as never).update(true);
}

export function propertiesOf(request: AmqpMessage): Record<string, unknown> {
  return (request.application_properties ?? {}) as Record<string, unknown>;
}

/** Of `$management`; 204 says that there is nothing. */
export function success(body: object | null, code = 200): Answer {
  return { properties: { statusCode: rhea().types.wrap_int(code), statusDescription: 'OK' }, body };
}

export function failure(code: number, condition: string, description: string): Answer {
  const { types } = rhea();
  return {
    properties: {
      statusCode: types.wrap_int(code),
      errorCondition: types.wrap_symbol(condition),
      statusDescription: description,
    },
  };
}
