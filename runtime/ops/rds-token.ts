/** A login at Amazon RDS without a password: a signed token, valid for a quarter of an hour. */
import type { PasswordFunction } from '../ledger/connection';
import { reason } from '../ledger/errors';

export interface RdsEndpoint {
  /** As the server is called by Amazon: the signature covers it, so no alias of it will do. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly region: string;
}

/**
 * Signs a new token for each connection, with the credentials of the SDK's default chain. Signing asks nobody; only the
 * credentials may have to be fetched. A connection outlives its token.
 */
export async function rdsToken({ host, port, user, region }: RdsEndpoint): Promise<PasswordFunction> {
  // Loaded only for those who log in this way.
  const { Signer } = await import('@aws-sdk/rds-signer');
  const signer = new Signer({ hostname: host, port, username: user, region });
  return async () => {
    try {
      return await signer.getAuthToken();
    } catch (cause) {
      throw new Error(
        `no token for ${user} on ${host} could be signed (${reason(cause)}). ` +
          'Give this process a role, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, that may rds-db:connect.',
        { cause },
      );
    }
  };
}
