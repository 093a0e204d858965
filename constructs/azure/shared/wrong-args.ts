import * as pulumi from '@pulumi/pulumi';
import { type WrongProp, wrongProp } from '../../shared/check';

/** One wrong argument; where it is, the component knows. */
export type WrongArg = Omit<WrongProp, 'path'>;

/** @throws all that is wrong in one error, so that nobody mends a program one preview at a time */
export function refuseWrongArgs(component: string, name: string, wrong: readonly (WrongArg | undefined)[]): void {
  const all = found(wrong);
  if (all.length === 0) return;
  throw refusal(all.map((each) => wrongProp({ path: `${component} ${name}`, ...each }).message).join('\n'));
}

/** What is wrong, of what might be. */
export function found(wrong: readonly (WrongArg | undefined)[]): WrongArg[] {
  return wrong.filter((each) => each !== undefined);
}

/** An error that Pulumi prints as it is. */
export function refusal(words: string): pulumi.RunError {
  const error = new pulumi.RunError(words);
  // Pulumi shows no stack of it, but formats one nevertheless, which takes half a minute under a TypeScript loader.
  delete error.stack;
  return error;
}

/** A value as an error shows it. */
export function shown(value: unknown): string {
  if (value === undefined) return 'not given';
  if (pulumi.Output.isInstance(value)) return 'an Output, which is known at deploy only';
  return typeof value === 'string' ? `"${value}"` : String(value);
}

/** To say of a number in quotes. */
export const NO_TEXT = 'Write the number without quotes; of a setting of the stack, read it with requireNumber.';

/** What is wrong with a count, or nothing. */
export function wrongCount(
  prop: string,
  value: number,
  { min, max, unit = '', wayOut }: { min: number; max: number; unit?: string; wayOut: string },
): WrongArg | undefined {
  if (Number.isInteger(value) && value >= min && value <= max) return undefined;
  if (typeof value === 'string') {
    return {
      prop,
      received: shown(value),
      allowed: `numbers from ${min} to ${max}${unit}`,
      wayOut: NO_TEXT,
    };
  }
  return { prop, received: `${shown(value)}${unit}`, allowed: `whole numbers from ${min} to ${max}${unit}`, wayOut };
}
