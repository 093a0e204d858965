/** What an error of a send means for the events of the batch. */
import { errorText } from './azure-errors';

export interface SendFailure {
  /** `again`: may pass later. `split`: the batch is refused for what is in it. `stop`: nothing will ever pass. */
  readonly what: 'again' | 'split' | 'stop';
  /** The hub has refused it, so it holds none of it. Otherwise no answer came, and it may hold all of it. */
  readonly refused: boolean;
  readonly reason: string;
}

const STOP = new Set([
  'UnauthorizedError',
  'MessagingEntityNotFoundError',
  'MessagingEntityDisabledError',
  'ServiceCommunicationError',
  'ResourceDeletedError',
  'InvalidOperationError',
]);
const MAY_SEND =
  'Who publishes needs the role Azure Event Hubs Data Sender on the hub (a new one takes minutes), or a key that may send';
/** Of the identity, which has no code. */
const NO_LOGIN =
  /^(CredentialUnavailableError|AuthenticationError|AuthenticationRequiredError|AggregateAuthenticationError)$/;
const LOG_IN =
  'Nobody is logged in: run az login, or set AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_CLIENT_SECRET, or run where there is a managed identity';
const SPLIT = new Set(['MessageTooLargeError', 'ArgumentError', 'ArgumentOutOfRangeError', 'DecodeError']);
const REFUSED = new Set(['ServerBusyError', 'QuotaExceededError', 'SenderBusyError', 'SenderNotReadyError']);

export function sendFailure(error: unknown): SendFailure {
  const name = error instanceof Error ? error.name : '';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const stop = STOP.has(code) || NO_LOGIN.test(name);
  const split = SPLIT.has(code);
  return {
    what: stop ? 'stop' : split ? 'split' : 'again',
    refused: stop || split || REFUSED.has(code),
    reason: [errorText(error).replace(/\.$/, ''), ...wayOut(name, code)].join('. '),
  };
}

function wayOut(name: string, code: string): string[] {
  if (NO_LOGIN.test(name)) return [LOG_IN, MAY_SEND];
  if (code === 'UnauthorizedError') return [MAY_SEND];
  if (code === 'MessagingEntityNotFoundError') return ['Create the event hub, or correct its name'];
  return [];
}
