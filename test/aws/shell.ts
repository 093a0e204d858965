/** What a shell makes of a command line that the template builds, once its tokens are resolved. */
import { execFileSync } from 'node:child_process';

const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::Region': 'eu-west-1',
  'AWS::AccountId': '111122223333',
  'AWS::Partition': 'aws',
};

/** A template's value with every reference replaced by a word that CloudFormation could put there. */
export function deployed(value: unknown): string {
  if (typeof value === 'string') return value;
  const [[name, argument] = ['', undefined]] = Object.entries(value as Record<string, unknown>);
  if (name === 'Fn::Join') {
    const [separator, parts] = argument as [string, unknown[]];
    return parts.map(deployed).join(separator);
  }
  if (name === 'Ref') return PSEUDO[String(argument)] ?? `id-of-${String(argument)}`;
  if (name === 'Fn::GetAtt') return `att-of-${(argument as string[]).join('-')}`;
  if (name === 'Fn::ImportValue') return `import-of-${String(argument)}`;
  throw new Error(`no word stands for ${JSON.stringify(value)}`);
}

/** Runs the line in a real shell in which `aws` only says what it was given: the arguments of each call. */
export function callsOfAws(line: string): string[][] {
  const aws = String.raw`aws() { for each in "$@"; do printf '%s\037' "$each"; done; printf '\036'; }`;
  const said = execFileSync('sh', ['-eu', '-c', `${aws}\n${line}`], { encoding: 'utf8', env: {}, stdio: 'pipe' });
  return said
    .split('\x1e')
    .slice(0, -1)
    .map((call) => call.split('\x1f').slice(0, -1));
}

/** The value after an option. */
export function option(call: readonly string[], name: string): string {
  const at = call.indexOf(name);
  if (at < 0 || call[at + 1] === undefined) throw new Error(`${name} is not among ${call.join(' ')}`);
  return call[at + 1]!;
}
