/** As much of PostgreSQL's protocol as comes before a session is open. */
import type { Duplex } from 'node:stream';

export const SSL_REQUEST = 80877103;
export const CANCEL_REQUEST = 80877102;
export const AUTHENTICATION_OK = 0;

/** The other side went away in the middle of a message. */
export class Gone extends Error {
  override readonly name = 'Gone';
}

/** Exactly so many bytes; what comes after them stays in the stream. */
export async function read(stream: Duplex, bytes: number): Promise<Buffer> {
  for (;;) {
    if (stream.destroyed || stream.readableEnded) throw new Gone('the other side is gone');
    const chunk = stream.read(bytes) as Buffer | null;
    if (chunk?.length === bytes) return chunk;
    if (chunk) throw new Gone('the other side went away in the middle of a message');
    await new Promise<void>((resolve) => {
      const names = ['readable', 'end', 'close', 'error'];
      const wake = () => {
        for (const name of names) stream.off(name, wake);
        resolve();
      };
      for (const name of names) stream.once(name, wake);
    });
  }
}

export interface FirstMessage {
  /** A request, or the version of the protocol. */
  readonly code: number;
  readonly bytes: Buffer;
}

/** A message without a type: how every connection begins. */
export async function readFirst(stream: Duplex): Promise<FirstMessage> {
  const head = await read(stream, 8);
  const rest = head.readInt32BE(0) - 8;
  const bytes = rest > 0 ? Buffer.concat([head, await read(stream, rest)]) : head;
  return { code: head.readInt32BE(4), bytes };
}

export interface Message {
  readonly type: string;
  readonly body: Buffer;
  readonly bytes: Buffer;
}

export async function readMessage(stream: Duplex): Promise<Message> {
  const head = await read(stream, 5);
  const length = head.readInt32BE(1) - 4;
  const body = length > 0 ? await read(stream, length) : Buffer.alloc(0);
  return { type: String.fromCharCode(head[0] ?? 0), body, bytes: Buffer.concat([head, body]) };
}

/** The user of a start-up message. */
export function userOf({ bytes }: FirstMessage): string {
  const texts = bytes.subarray(8).toString('utf8').split('\0');
  return texts[texts.indexOf('user') + 1] ?? '';
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

export function askForPassword(): Buffer {
  return message('R', Buffer.from([0, 0, 0, 3]));
}

export function refusal(code: string, text: string): Buffer {
  return message('E', Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`, 'utf8'));
}
