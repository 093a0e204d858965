/** Which errors of a start are waited for: roles and identities arrive minutes after they were made. */
import { describe, expect, it } from 'vitest';
import { isRefused } from '../../../runtime/sources/event-hubs/azure-errors';

const error = (more: object) => Object.assign(new Error('it failed'), more);

describe('a refusal', () => {
  it.each([
    { statusCode: 401 },
    { statusCode: 403 },
    { code: 'UnauthorizedError' },
    { name: 'CredentialUnavailableError' },
    { name: 'AuthenticationError' },
    { name: 'AggregateAuthenticationError' },
  ])('is %j', (more) => {
    expect(isRefused(error(more))).toBe(true);
    expect(isRefused(new AggregateError([error({}), error(more)]))).toBe(true);
  });

  it.each([{ statusCode: 503 }, { statusCode: 404 }, { code: 'ServerBusyError' }, { name: 'RestError' }])(
    'is not %j',
    (more) => {
      expect(isRefused(error(more))).toBe(false);
    },
  );
});
