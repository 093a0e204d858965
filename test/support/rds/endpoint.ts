/**
 * An endpoint as Amazon RDS has one: TLS only, and whoever is a member of rds_iam logs in with a signed token, which is
 * asked for in clear text under TLS. Everybody else logs in at the server behind it as usual. The server must trust
 * this machine's members of rds_iam (`startManagedPostgres` does).
 */
import { connect, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type Authority, newAuthority } from './certificates';
import { type AwsCredentials, refuseToken } from './token';
import {
  AUTHENTICATION_OK,
  askForPassword,
  CANCEL_REQUEST,
  type FirstMessage,
  Gone,
  readFirst,
  readMessage,
  refusal,
  SSL_REQUEST,
  userOf,
} from './wire';

export interface RdsEndpointOptions {
  /** The server behind it. */
  readonly server: { readonly host: string; readonly port: number };
  readonly region: string;
  /** Whose tokens count; may be changed while it runs. */
  readonly credentials: AwsCredentials[];
  /** Absent: the clock of this process. */
  readonly now?: () => number;
}

export interface Login {
  readonly user: string;
  readonly token: string;
  /** Absent: it was let in. */
  readonly refused?: string;
}

export interface RdsEndpoint {
  readonly host: string;
  readonly port: number;
  readonly authority: Authority;
  /** Logins with a token, in order. */
  readonly logins: Login[];
  /** Refuses as many logins with a token, whatever the token, with this code of PostgreSQL's. */
  refuse(logins: number, code?: string): void;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
/** What the login by PAM says at Amazon, whatever was wrong. */
const PAM_CODE = '28000';

export async function startRdsEndpoint(options: RdsEndpointOptions): Promise<RdsEndpoint> {
  const authority = newAuthority('a stand-in for Amazon RDS');
  const gate = new Gate(options, authority.sign(HOST));
  const server = createServer((socket) => gate.serve(socket));
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  const address = server.address();
  gate.port = typeof address === 'object' && address ? address.port : 0;
  return {
    host: HOST,
    port: gate.port,
    authority,
    logins: gate.logins,
    refuse(logins, code = '28P01') {
      gate.refusals = Array<string>(logins).fill(code);
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      gate.hangUp();
      await closed;
    },
  };
}

class Gate {
  port = 0;
  refusals: string[] = [];
  readonly logins: Login[] = [];
  private readonly sockets = new Set<Socket>();

  constructor(
    private readonly options: RdsEndpointOptions,
    private readonly certificate: { readonly key: string; readonly cert: string },
  ) {}

  serve(socket: Socket): void {
    this.keep(socket);
    this.admit(socket).catch((error: unknown) => {
      socket.destroy();
      if (!(error instanceof Gone)) throw error;
    });
  }

  hangUp(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    // Either side may go away at any time; the other one is told by the end of its stream.
    socket.on('error', () => undefined).once('close', () => this.sockets.delete(socket));
  }

  private async admit(socket: Socket): Promise<void> {
    const first = await readFirst(socket);
    if (first.code !== SSL_REQUEST) {
      socket.end(refusal('28000', `no pg_hba.conf entry for user "${userOf(first)}", no encryption`));
      return;
    }
    socket.write('S');
    const client = new TLSSocket(socket, { isServer: true, ...this.certificate });
    this.keep(client);
    const start = await readFirst(client);
    const upstream = connect(this.options.server.port, this.options.server.host);
    this.keep(upstream);
    socket.once('close', () => upstream.destroy());
    upstream.write(start.bytes);
    if (start.code === CANCEL_REQUEST || (await this.logIn(client, upstream, start))) join(client, upstream);
  }

  /** Whether the two may talk to each other. */
  private async logIn(client: TLSSocket, upstream: Socket, start: FirstMessage): Promise<boolean> {
    const answer = await readMessage(upstream);
    const trusted = answer.type === 'R' && answer.body.readInt32BE(0) === AUTHENTICATION_OK;
    if (trusted) {
      client.write(askForPassword());
      const { type, body } = await readMessage(client);
      if (type !== 'p') throw new Gone('hung up instead of answering');
      const user = userOf(start);
      const refused = this.refuseLogin(user, body.subarray(0, -1).toString('utf8'));
      if (refused) {
        upstream.destroy();
        client.end(refusal(refused, `PAM authentication failed for user "${user}"`));
        return false;
      }
    }
    client.write(answer.bytes);
    return true;
  }

  /** The code to refuse with, or nothing. */
  private refuseLogin(user: string, token: string): string | undefined {
    const { region, credentials, now = Date.now } = this.options;
    const asked = this.refusals.shift();
    const reason = refuseToken(token, user, { host: HOST, port: this.port, region, credentials, now: now() });
    const refused = asked === undefined ? reason : 'a test wanted it so';
    this.logins.push({ user, token, ...(refused === undefined ? {} : { refused }) });
    return refused === undefined ? undefined : (asked ?? PAM_CODE);
  }
}

function join(client: TLSSocket, upstream: Socket): void {
  client.pipe(upstream).pipe(client);
  upstream.once('close', () => client.destroy());
}
