/**
 * The front of a managed PostgreSQL server: TLS only, and whoever the server behind it lets in without asking logs in with
 * a token, which is asked for in clear text under TLS. Everybody else logs in at the server behind it as usual.
 */
import { connect, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type Authority, newAuthority } from './rds/certificates';
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
} from './rds/wire';

export interface LoginGateOptions {
  /** The server behind it. */
  readonly server: { readonly host: string; readonly port: number };
  /** What its certificate authority is called. */
  readonly authority: string;
  /** Why the token does not log in as this user; undefined when it does. */
  check(user: string, token: string, port: number): string | undefined | Promise<string | undefined>;
  /** What the client is told when the token is refused. Absent: the reason. */
  words?(user: string): string;
}

export interface Login {
  readonly user: string;
  readonly token: string;
  /** Absent: it was let in. */
  readonly refused?: string;
}

export interface LoginGate {
  readonly host: string;
  readonly port: number;
  readonly authority: Authority;
  /** Logins with a token, in order. */
  readonly logins: Login[];
  /** Refuses as many logins with a token, whatever the token, with this code of PostgreSQL's. */
  refuse(logins: number, code?: string): void;
  stop(): Promise<void>;
}

export const HOST = '127.0.0.1';
/** What a login that is not by password says, whatever was wrong. */
const REFUSED_CODE = '28000';

export async function startLoginGate(options: LoginGateOptions): Promise<LoginGate> {
  const authority = newAuthority(options.authority);
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
    private readonly options: LoginGateOptions,
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
      const refused = await this.refuseLogin(user, body.subarray(0, -1).toString('utf8'));
      if (refused) {
        upstream.destroy();
        client.end(refusal(refused.code, this.options.words?.(user) ?? refused.reason));
        return false;
      }
    }
    client.write(answer.bytes);
    return true;
  }

  /** How to refuse, or nothing. */
  private async refuseLogin(user: string, token: string): Promise<{ code: string; reason: string } | undefined> {
    const asked = this.refusals.shift();
    const reason = asked === undefined ? await this.options.check(user, token, this.port) : 'a test wanted it so';
    this.logins.push({ user, token, ...(reason === undefined ? {} : { refused: reason }) });
    return reason === undefined ? undefined : { code: asked ?? REFUSED_CODE, reason };
  }
}

function join(client: TLSSocket, upstream: Socket): void {
  client.pipe(upstream).pipe(client);
  upstream.once('close', () => client.destroy());
}
