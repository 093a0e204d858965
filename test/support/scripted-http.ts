/** A real HTTP server that answers as a test scripts it, byte for byte, and keeps what it was sent. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers one request, or leaves it unanswered. */
export type Reply = (response: ServerResponse, request: SeenRequest) => void;

export interface ScriptedServer {
  readonly url: URL;
  readonly seen: SeenRequest[];
  /** Answers for the next requests, in order. A request beyond them is answered 599. */
  script(...replies: Reply[]): void;
  /** Forgets requests and replies. */
  clear(): void;
  stop(): Promise<void>;
}

export async function startScriptedServer(): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  let replies: Reply[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const got = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') };
      seen.push(got);
      const reply = replies.shift() ?? text(599, 'not scripted');
      reply(response, got);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}`),
    seen,
    script: (...next) => {
      replies.push(...next);
    },
    clear: () => {
      seen.length = 0;
      replies = [];
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

type Headers = Readonly<Record<string, string>>;

export const text =
  (status: number, body: string, headers: Headers = {}): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'text/plain', 'request-id': 'req_1', ...headers });
    response.end(body);
  };

export const json = (status: number, body: unknown, headers: Headers = {}): Reply =>
  text(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers });

export const html = (status: number): Reply =>
  text(status, `<html><body><h1>${status}</h1></body></html>`, { 'content-type': 'text/html' });

/** The request was read; the connection is reset without a byte of an answer. */
export const reset: Reply = (response) => {
  response.socket?.resetAndDestroy();
};

/** The request was read; nothing ever comes. */
export const silence: Reply = () => undefined;

/** Headers and the first bytes of the body, then nothing. */
export const stallAfterHeaders: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'request-id': 'req_1', 'content-length': '1000' });
  response.write('{"id":"pi_1"');
};

/** One byte every 10 ms, for as long as somebody listens: an idle timeout never sees it. */
export const drip: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'request-id': 'req_1' });
  response.write('{"id":"');
  const timer = setInterval(() => response.write('x'), 10);
  response.on('close', () => clearInterval(timer));
};

/** Says that more is coming, and closes. */
export const truncated =
  (body: string): Reply =>
  (response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'request-id': 'req_1',
      'content-length': String(Buffer.byteLength(body) + 50),
    });
    response.write(body, () => response.socket?.end());
  };

export const redirect =
  (status: number, location: string): Reply =>
  (response) => {
    response.writeHead(status, { location });
    response.end();
  };
