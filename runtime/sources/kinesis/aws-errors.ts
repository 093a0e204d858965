/** What an error of the AWS SDK means for the caller's next step. */

/** The service refused for want of capacity; the request was not carried out. */
const THROTTLES = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'LimitExceededException',
  'KMSThrottlingException',
]);

export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}

export function errorText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

export function isThrottle(error: unknown): boolean {
  return THROTTLES.has(errorName(error));
}

export function isConditionFailed(error: unknown): boolean {
  return errorName(error) === 'ConditionalCheckFailedException';
}

export function isMissing(error: unknown): boolean {
  return errorName(error) === 'ResourceNotFoundException';
}

/** The service read the request and refused it, so it certainly changed nothing. Not so for 5xx and silence. */
export function wasRefused(error: unknown): boolean {
  if (!(error instanceof Error) || !('$metadata' in error)) return false;
  const metadata = error.$metadata;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return false;
  const status = metadata.httpStatusCode;
  return typeof status === 'number' && status >= 400 && status < 500;
}
