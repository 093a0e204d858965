import type { Shell } from '../../../runtime/host';

/** A shell that keeps what is written. */
export function fakeShell(args: string[], env: Record<string, string> = {}, stdin: Uint8Array[] = []) {
  const written = { out: '', err: '' };
  const shell: Shell = {
    args,
    env,
    interactive: false,
    out: (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
    async *stdin() {
      yield* stdin;
    },
  };
  return { shell, written };
}
