/** What a verb of the command line is. One file a verb; `verbs.ts` is the table. */
import type { ParseArgsConfig } from 'node:util';
import type { Host, Shell } from '../host';

/** 0: fine. 1: a finding. 2: could not do or check it. */
export type ExitCode = 0 | 1 | 2;

export interface VerbContext {
  readonly shell: Shell;
  readonly host: Host;
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
  /** Says on stderr why the verb could not run, and answers 2. */
  refuse(problem: string): 2;
}

export interface Verb {
  readonly name: string;
  /** One line for the overview. */
  readonly summary: string;
  /** The whole text of `<verb> --help`. */
  readonly help: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  readonly positionals: { readonly min: number; readonly max: number };
  run(context: VerbContext): Promise<ExitCode>;
}
