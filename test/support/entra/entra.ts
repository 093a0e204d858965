/**
 * Microsoft Entra for the processes of one machine: the identity endpoint as Container Apps gives it to a container
 * (IDENTITY_ENDPOINT, IDENTITY_HEADER, api-version 2019-08-01), and the keys that its tokens are checked with.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type EntraIdentity, newIssuer, type TokenClaims } from './token';

/** The service that tokens for PostgreSQL are for, in the public cloud. */
export const POSTGRES_SERVICE = 'https://ossrdbms-aad.database.windows.net';

export interface EntraOptions {
  /** May be changed while it runs. */
  readonly identities: EntraIdentity[];
  /** Milliseconds that a token lasts; a managed identity's lasts a day. Default: one day. */
  readonly tokenLifetimeMs?: number;
  /** Absent: the clock of this process. */
  readonly now?: () => number;
}

/** A token that was asked for. */
export interface TokenRequest {
  readonly clientId: string | undefined;
  readonly resource: string;
  readonly status: number;
}

export interface Entra {
  /** What a process of this identity has in its environment. */
  environment(clientId: string): Record<string, string>;
  /** A token as a test wants it, of an identity that the endpoint may not even know. */
  token(identity: EntraIdentity, options?: { readonly audience?: string; readonly expiresInMs?: number }): string;
  /** Why the token is not valid for this service now, in the words of PostgreSQL on Azure; otherwise its claims. */
  verify(token: string, audience: string): TokenClaims | string;
  /** What was asked for, in order. */
  readonly requests: TokenRequest[];
  /** Answers as many requests with this status, as an endpoint does that is not ready. */
  refuse(requests: number, status?: number): void;
  stop(): Promise<void>;
}

const DAY_MS = 24 * 3_600_000;
const API_VERSION = '2019-08-01';

export async function startEntra(options: EntraOptions): Promise<Entra> {
  const { identities, tokenLifetimeMs = DAY_MS, now = () => Date.now() } = options;
  const issuer = newIssuer();
  const secret = randomUUID();
  const requests: TokenRequest[] = [];
  const refusals: number[] = [];
  const seconds = (ms: number) => Math.floor(ms / 1_000);
  const issue = (identity: EntraIdentity, audience: string, lifetimeMs: number) => {
    const exp = seconds(now() + lifetimeMs);
    return { token: issuer.issue(identity, audience, { nbf: seconds(Math.min(now(), now() + lifetimeMs)), exp }), exp };
  };
  const answer = (request: IncomingMessage): { status: number; body: object; clientId?: string; resource: string } => {
    const query = new URL(request.url ?? '/', 'http://endpoint').searchParams;
    const [resource, clientId] = [query.get('resource') ?? '', query.get('client_id') ?? undefined];
    const asked = { resource, ...(clientId === undefined ? {} : { clientId }) };
    const fault = (status: number, message: string) => ({ status, body: { statusCode: status, message }, ...asked });
    const refused = refusals.shift();
    if (refused !== undefined) return fault(refused, 'a test wanted it so');
    if (request.headers['x-identity-header'] !== secret) return fault(401, 'the header X-IDENTITY-HEADER is wrong');
    if (query.get('api-version') !== API_VERSION) return fault(400, 'the api-version is unknown');
    const identity = identities.find((each) => each.clientId === clientId);
    if (!identity) {
      return fault(400, 'No User Assigned or Delegated Managed Identity found for specified ClientId');
    }
    const { token, exp } = issue(identity, resource, tokenLifetimeMs);
    const body = { access_token: token, expires_on: String(exp), resource, token_type: 'Bearer', client_id: clientId };
    return { status: 200, body, ...asked };
  };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const { status, body, clientId, resource } = answer(request);
    requests.push({ clientId, resource, status });
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    environment: (clientId) => ({
      IDENTITY_ENDPOINT: `http://127.0.0.1:${port}/msi/token`,
      IDENTITY_HEADER: secret,
      AZURE_CLIENT_ID: clientId,
    }),
    token: (identity, { audience = POSTGRES_SERVICE, expiresInMs = tokenLifetimeMs } = {}) =>
      issue(identity, audience, expiresInMs).token,
    verify(token, audience) {
      const claims = issuer.read(token);
      if (typeof claims === 'string') return `The access token cannot be read: ${claims}.`;
      if (claims.aud !== audience) {
        return `The access token does not have a valid audience claim. Please acquire a new token for the resource "${audience}".`;
      }
      if (claims.nbf > seconds(now())) return 'The access token is of the future.';
      return claims.exp <= seconds(now()) ? 'The access token has expired. Acquire a new token and retry.' : claims;
    },
    requests,
    refuse(count, status = 503) {
      refusals.splice(0, refusals.length, ...Array<number>(count).fill(status));
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
