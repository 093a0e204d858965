/** Runs the init container of the template: the worker may only start on its success. */
import { spawn } from 'node:child_process';
import type { Parts } from './parts';
import { containerEnvironment } from './resolve';
import type { Screen } from './screen';
import type { StackPlan } from './template';
import { WorkerError } from './workers';

export async function runMigrations(plan: StackPlan, parts: Parts, bundle: string, screen: Screen): Promise<void> {
  const environment = { ...containerEnvironment(plan.migrate, parts.scope), ...parts.trust };
  const output: string[] = [];
  const child = spawn(process.execPath, [bundle, ...plan.migrate.command], {
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (code !== 0)
    throw new WorkerError(`The container ${plan.migrate.name} failed (exit ${code}):\n${output.join('')}`);
  screen.step(`ledger migrated by the init container \`${plan.migrate.name}\`: ${plan.migrate.command.join(' ')}`);
}
