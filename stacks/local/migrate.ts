/** Runs the init container that the stack declares: the worker may only start on its success. */
import { spawn } from 'node:child_process';
import type { Screen } from './screen';
import type { Container } from './sources/parts';
import { WorkerError } from './workers';

export async function runMigrations(migrate: Container, bundle: string, screen: Screen): Promise<void> {
  const output: string[] = [];
  const child = spawn(process.execPath, [bundle, ...migrate.command], {
    env: { PATH: process.env.PATH ?? '', ...migrate.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (code !== 0) throw new WorkerError(`The container ${migrate.name} failed (exit ${code}):\n${output.join('')}`);
  screen.step(`ledger migrated by the init container \`${migrate.name}\`: ${migrate.command.join(' ')}`);
}
