/** Progress on stderr: one line redrawn on a terminal, a plain line every few seconds elsewhere. */
import type { Host, Shell } from '../host';

interface Progress {
  readonly read: number;
  readonly sent: number;
  readonly retried: number;
  readonly undelivered: number;
}

const REDRAW_MS = 100;
const PLAIN_MS = 5_000;

export function publishProgress(shell: Shell, host: Host): { show(now: Progress): void; end(now: Progress): void } {
  const every = shell.interactive ? REDRAW_MS : PLAIN_MS;
  let last = host.monotonic();
  const line = ({ read, sent, retried, undelivered }: Progress) =>
    `sent ${sent} of ${read} read, ${retried} retried, ${undelivered} not delivered`;
  return {
    show(now) {
      if (host.monotonic() - last < every) return;
      last = host.monotonic();
      shell.err(shell.interactive ? `\r\x1b[K${line(now)}` : `${line(now)}\n`);
    },
    end(now) {
      if (shell.interactive) shell.err(`\r\x1b[K${line(now)}\n`);
    },
  };
}
