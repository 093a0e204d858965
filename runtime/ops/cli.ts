/** Finds the verb, parses its options, runs it. No verb is known here. */
import { parseArgs } from 'node:util';
import { nearest, redactSecrets } from '../config';
import type { Host, Shell } from '../host';
import type { ExitCode, Verb, VerbContext } from './verb';

export interface Cli {
  readonly shell: Shell;
  readonly host: Host;
  readonly verbs: readonly Verb[];
  readonly version: string;
}

export async function runCli(cli: Cli): Promise<ExitCode> {
  const { shell, verbs, version } = cli;
  const [first, ...rest] = shell.args;
  if (first === undefined) {
    shell.err(overview(verbs));
    return 2;
  }
  if (first === '--version' || first === '-v') return say(shell, `${version}\n`);
  if (first === '--help' || first === '-h') return say(shell, overview(verbs));
  const [name, args] = first === 'help' ? [rest[0], ['--help']] : [first, rest];
  if (name === undefined) return say(shell, overview(verbs));
  const verb = verbs.find((each) => each.name === name);
  if (verb === undefined) return unknownVerb(shell, verbs, name);
  return runVerb(cli, verb, args);
}

async function runVerb({ shell, host }: Cli, verb: Verb, args: string[]): Promise<ExitCode> {
  const refuse = (problem: string): 2 => {
    shell.err(`chargeonce ${verb.name}: ${redactSecrets(problem)}\n`);
    return 2;
  };
  const parsed = parse(verb, args);
  if (typeof parsed === 'string') return refuse(`${parsed}\nTry: chargeonce ${verb.name} --help`);
  if (parsed.values.help === true) return say(shell, verb.help.endsWith('\n') ? verb.help : `${verb.help}\n`);
  const count = parsed.positionals.length;
  if (count < verb.positionals.min || count > verb.positionals.max) {
    return refuse(
      `received ${count} arguments, expected ${verb.positionals.min}.\nTry: chargeonce ${verb.name} --help`,
    );
  }
  const missing = (error: unknown): ExitCode => {
    const name = missingPackage(error);
    if (name === undefined) throw error;
    return refuse(`needs the package ${name}, which is not installed. Run: npm install ${name}`);
  };
  return verb.run({ shell, host, ...parsed, refuse }).catch(missing);
}

/** Options and arguments, or what is wrong with them. */
function parse(verb: Verb, args: string[]): Pick<VerbContext, 'values' | 'positionals'> | string {
  const options = { ...verb.options, help: { type: 'boolean', short: 'h' } } as const;
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true });
    return { values: values as VerbContext['values'], positionals };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const wrong = /^Unknown option '--?([^']+)'/.exec(error.message)?.[1];
    if (wrong === undefined) return error.message;
    const meant = nearest(wrong, Object.keys(options), 3);
    return `unknown option --${wrong}.${meant === undefined ? '' : ` Did you mean --${meant}?`}`;
  }
}

/** Name of a package that a lazy import did not find; nothing for any other error. */
function missingPackage(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  return /^Cannot find (?:module|package) '((?:@[^/']+\/)?[^./'][^/']*)/.exec((error as Error).message)?.[1];
}

function unknownVerb(shell: Shell, verbs: readonly Verb[], name: string): ExitCode {
  const names = verbs.map((verb) => verb.name);
  const meant = nearest(name, names, 3);
  const hint = meant === undefined ? `Verbs: ${names.join(', ')}.` : `Did you mean ${meant}?`;
  shell.err(`chargeonce: there is no verb ${JSON.stringify(redactSecrets(name))}. ${hint}\n`);
  return 2;
}

function say(shell: Shell, text: string): ExitCode {
  shell.out(text);
  return 0;
}

function overview(verbs: readonly Verb[]): string {
  const width = Math.max(...verbs.map((verb) => verb.name.length));
  return [
    'chargeonce: at most one Stripe charge for each customer and billing period',
    '',
    'Usage: chargeonce <verb> [options]',
    '',
    ...verbs.map((verb) => `  ${verb.name.padEnd(width)}  ${verb.summary}`),
    '',
    '  chargeonce <verb> --help   what a verb does and its options',
    '  chargeonce --version       the version',
    '',
    'Exit codes: 0 fine, 1 a finding, 2 could not do or check it.',
    '',
  ].join('\n');
}
