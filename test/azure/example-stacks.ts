/** The two programs in `stacks/azure`, run as Pulumi runs them. */
import * as pulumi from '@pulumi/pulumi';
import { vi } from 'vitest';
import { type Run, runProgram } from './mocks';

const PROGRAMS = {
  pattern: () => import('../../stacks/azure/index.js'),
  composed: () => import('../../stacks/azure/composed.js'),
} as const;
export type ExampleStack = keyof typeof PROGRAMS;
export const EXAMPLE_STACKS = Object.keys(PROGRAMS) as ExampleStack[];

const kept = new Map<string, Promise<Run<unknown>>>();

/** What was run once is not run again. */
export function runExample(stack: ExampleStack, preview = false): Promise<Run<unknown>> {
  const key = `${stack} ${preview}`;
  const run = kept.get(key) ?? runAnew(stack, preview);
  kept.set(key, run);
  return run;
}

function runAnew(stack: ExampleStack, preview: boolean): Promise<Run<unknown>> {
  vi.resetModules();
  pulumi.runtime.setAllConfig({ 'billing:stripeKey': 'rk_test_4eC39H' });
  return runProgram<unknown>(PROGRAMS[stack], { preview });
}
