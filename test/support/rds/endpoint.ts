/**
 * An endpoint as Amazon RDS has one: TLS only, and whoever is a member of rds_iam logs in with a signed token. The server
 * must trust this machine's members of rds_iam (`startManagedPostgres` does).
 */
import { HOST, type LoginGate, startLoginGate } from '../login-gate';
import { type AwsCredentials, refuseToken } from './token';

export type RdsEndpoint = LoginGate;

export interface RdsEndpointOptions {
  /** The server behind it. */
  readonly server: { readonly host: string; readonly port: number };
  readonly region: string;
  /** Whose tokens count; may be changed while it runs. */
  readonly credentials: AwsCredentials[];
  /** Absent: the clock of this process. */
  readonly now?: () => number;
}

export function startRdsEndpoint(options: RdsEndpointOptions): Promise<RdsEndpoint> {
  const { server, region, credentials, now = () => Date.now() } = options;
  return startLoginGate({
    server,
    authority: 'a stand-in for Amazon RDS',
    check: (user, token, port) => refuseToken(token, user, { host: HOST, port, region, credentials, now: now() }),
    // Whatever was wrong: the login is by PAM there.
    words: (user) => `PAM authentication failed for user "${user}"`,
  });
}
