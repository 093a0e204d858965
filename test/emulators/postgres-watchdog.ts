/**
 * Ends a server whose parent was killed. The script runs as a process of its own and reads the parent's pipe: `watch
 * <pid>` names the server, `done` ends the watchdog, and a closed pipe means that the parent is gone.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

const SCRIPT = `
let pid, text = '';
const alive = () => { try { process.kill(pid, 0); return true; } catch { return false; } };
const clean = () => {
  for (const folder of process.argv.slice(1)) require('fs').rmSync(folder, { recursive: true, force: true });
  process.exit(0);
};
const wait = (left) => (pid && alive() && left > 0 ? setTimeout(wait, 50, left - 1) : clean());
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.stdin.on('data', (chunk) => {
  text += chunk;
  const lines = text.split('\\n');
  text = lines.pop();
  for (const line of lines) {
    if (line === 'done') process.exit(0);
    pid = Number(line.slice(6));
  }
});
process.stdin.on('close', () => {
  if (pid && alive()) process.kill(pid, 'SIGQUIT');
  wait(200);
});
`;

export interface Watchdog {
  watch(pid: number): void;
  done(): void;
}

/** Starts the watchdog; `folders` are removed when it has to act. */
export function startWatchdog(folders: readonly string[]): Watchdog {
  const child: ChildProcess = spawn(process.execPath, ['-e', SCRIPT, ...folders], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: {},
  });
  child.unref();
  const pipe = child.stdin as Socket;
  pipe.unref();
  pipe.on('error', () => undefined);
  return {
    watch: (pid) => void pipe.write(`watch ${pid}\n`),
    done: () => void pipe.end('done\n'),
  };
}
