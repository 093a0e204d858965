/** What an error of an Azure SDK means here. */

const LOST_RACE = new Set([409, 412]);

/** Somebody else wrote first. */
export function isConditionFailed(error: unknown): boolean {
  return LOST_RACE.has(statusOf(error) ?? 0);
}

export function isNotFound(error: unknown): boolean {
  return statusOf(error) === 404;
}

/** The identity is not, or not yet, allowed: a new role assignment takes minutes to arrive. */
export function isForbidden(error: unknown): boolean {
  const status = statusOf(error);
  if (status === 401 || status === 403) return true;
  return isObject(error) && error.code === 'UnauthorizedError';
}

/** One line, without the SDK's multi-line request dump. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [line] = error.message.split('\n');
  const code = isObject(error) && typeof error.code === 'string' ? `${error.code}: ` : '';
  return `${code}${line ?? error.name}`;
}

function statusOf(error: unknown): number | undefined {
  return isObject(error) && typeof error.statusCode === 'number' ? error.statusCode : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
