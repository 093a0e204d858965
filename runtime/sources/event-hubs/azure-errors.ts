/** What an error of an Azure SDK means here. */

const LOST_RACE = new Set([409, 412]);
const SLOW_DOWN = new Set([429, 503]);
/** Of the credential: the identity's endpoint is not there yet, or does not know the identity yet. */
const NO_TOKEN = new Set(['CredentialUnavailableError', 'AuthenticationError', 'AggregateAuthenticationError']);

/** Somebody else wrote first, or an earlier try of the same write did. */
export function isConditionFailed(error: unknown): boolean {
  return LOST_RACE.has(statusOf(error) ?? 0);
}

export function isNotFound(error: unknown): boolean {
  return statusOf(error) === 404;
}

/** Hub or consumer group do not exist. */
export function isEntityMissing(error: unknown): boolean {
  return codeOf(error) === 'MessagingEntityNotFoundError';
}

export function isThrottled(error: unknown): boolean {
  return SLOW_DOWN.has(statusOf(error) ?? 0);
}

/** The identity is not, or not yet, allowed, or gets no token yet. */
export function isRefused(error: unknown): boolean {
  const status = statusOf(error);
  if (status === 401 || status === 403 || codeOf(error) === 'UnauthorizedError') return true;
  if (error instanceof AggregateError && error.errors.some(isRefused)) return true;
  return error instanceof Error && NO_TOKEN.has(error.name);
}

const PLACE_ERRORS = new Set(['ArgumentError', 'ArgumentOutOfRangeError']);

/** The hub never gave an offset or number as high as the one that was asked for: it is another hub. */
export function isPlaceRefused(error: unknown): boolean {
  const says = error instanceof Error && /supplied (offset|sequence number)\b.*\binvalid/i.test(error.message);
  return says && PLACE_ERRORS.has(codeOf(error) ?? '');
}

/** Another receiver with the same or a higher epoch has attached. */
export function isLinkStolen(error: unknown): boolean {
  return codeOf(error) === 'ReceiverDisconnectedError';
}

/** One line, without the SDK's multi-line request dump. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error instanceof AggregateError ? error.errors.at(-1) : undefined;
  if (inner !== undefined && inner !== error) return errorText(inner);
  const [line] = error.message.split('\n');
  const code = codeOf(error);
  return `${code === undefined ? '' : `${code}: `}${line === '' || line === undefined ? error.name : line}`;
}

function statusOf(error: unknown): number | undefined {
  return isObject(error) && typeof error.statusCode === 'number' ? error.statusCode : undefined;
}

function codeOf(error: unknown): string | undefined {
  return isObject(error) && typeof error.code === 'string' ? error.code : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
