/** What an error of PutRecords means for the records of the request. */

/** `again`: may pass later. `split`: something in the request is refused. `stop`: nothing will ever pass. */
export type PutFailure = 'again' | 'split' | 'stop';

const STOP = new Set([
  'ResourceNotFoundException',
  'AccessDeniedException',
  'UnrecognizedClientException',
  'InvalidSignatureException',
  'MissingAuthenticationTokenException',
  'IncompleteSignature',
  'InvalidClientTokenId',
  'ExpiredTokenException',
  'OptInRequired',
  'CredentialsProviderError',
  'KMSAccessDeniedException',
  'KMSDisabledException',
  'KMSInvalidStateException',
  'KMSNotFoundException',
  'KMSOptInRequired',
]);
const SPLIT = new Set(['ValidationException', 'InvalidArgumentException', 'SerializationException']);

export function classifyPutError(error: unknown): PutFailure {
  const name = error instanceof Error ? error.name : '';
  if (STOP.has(name)) return 'stop';
  if (SPLIT.has(name)) return 'split';
  return 'again';
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
