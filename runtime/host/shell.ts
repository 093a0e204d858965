/** The process as a command sees it: arguments, environment, streams. Tests give another one. */
export interface Shell {
  /** Without node and the script. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For people or machines: what was asked for. */
  out(text: string): void;
  /** Problems and progress. */
  err(text: string): void;
  /** Whether stderr is a terminal, so that a progress line may be redrawn. */
  readonly interactive: boolean;
  stdin(): AsyncIterable<Uint8Array>;
}

export function systemShell(): Shell {
  return {
    args: process.argv.slice(2),
    env: process.env,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    interactive: process.stderr.isTTY === true,
    stdin: () => process.stdin,
  };
}

/** Ends the process once stdout has taken everything, whatever sockets or timers are still open. */
export function exitNow(code: number): void {
  process.exitCode = code;
  process.stdout.write('', () => process.exit(code));
}
