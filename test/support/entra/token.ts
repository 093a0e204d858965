/** Access tokens as Microsoft Entra issues them to a managed identity: signed JWTs, checked with the public key alone. */
import { generateKeyPairSync, sign, verify } from 'node:crypto';

/** A managed identity. */
export interface EntraIdentity {
  /** What a process calls it by (AZURE_CLIENT_ID). */
  readonly clientId: string;
  /** What roles are mapped to and permissions given to: its object id. */
  readonly principalId: string;
  /** Its name, and that of its role. */
  readonly name: string;
}

export interface TokenClaims {
  /** The service that the token is for. */
  readonly aud: string;
  /** Object id of the identity. */
  readonly oid: string;
  /** Client id of the identity. */
  readonly appid: string;
  /** Seconds since the epoch. */
  readonly nbf: number;
  readonly exp: number;
}

export interface TokenIssuer {
  issue(identity: EntraIdentity, audience: string, times: { readonly nbf: number; readonly exp: number }): string;
  /** The claims of a token of this issuer, valid in time or not; or why it is none. */
  read(token: string): TokenClaims | string;
}

const TENANT = '11111111-2222-4333-8444-555555555555';

export function newIssuer(): TokenIssuer {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kid = 'key-1';
  return {
    issue(identity, audience, { nbf, exp }) {
      const claims = {
        aud: audience,
        iss: `https://sts.windows.net/${TENANT}/`,
        iat: nbf,
        nbf,
        exp,
        appid: identity.clientId,
        appidacr: '2',
        idtyp: 'app',
        oid: identity.principalId,
        sub: identity.principalId,
        tid: TENANT,
        ver: '1.0',
      };
      const text = `${encoded({ typ: 'JWT', alg: 'RS256', kid })}.${encoded(claims)}`;
      return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
    },
    read(token) {
      const [head = '', body = '', signature = '', ...more] = token.split('.');
      if (more.length > 0 || decoded(head)?.alg !== 'RS256') return 'it is no token of Microsoft Entra';
      const signed = Buffer.from(`${head}.${body}`);
      if (!verify('sha256', signed, publicKey, Buffer.from(signature, 'base64url'))) return 'its signature is wrong';
      return decoded(body) as unknown as TokenClaims;
    },
  };
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

function decoded(part: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Record<string, unknown>;
  } catch {
    // Whatever is no JSON is no token either.
    return undefined;
  }
}
