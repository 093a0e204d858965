/** The linters of synthesized templates, offline; what they find comes back in one form. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Template } from '../aws/synthesis';
import type { Finding } from '../support/reviewed';
import type { PythonEnvironment } from './python';

/** One of each kind: the first of all, one that gets things late, and both other partitions. */
const REGIONS = ['us-east-1', 'eu-central-2', 'cn-north-1', 'us-gov-west-1'];

/** Writes templates as files, for linters to read. */
export function written(folder: string, templates: Readonly<Record<string, Template>>): string[] {
  mkdirSync(folder, { recursive: true });
  return Object.entries(templates).map(([name, template]) => {
    const file = join(folder, `${name}.template.json`);
    writeFileSync(file, JSON.stringify(template, undefined, 1));
    return file;
  });
}

interface CfnLintMatch {
  readonly Filename: string;
  readonly Message: string;
  readonly Rule: { readonly Id: string };
  readonly Location: { readonly Path: readonly (string | number)[] | null };
}

/** Errors and warnings. */
export async function cfnLint(python: PythonEnvironment, files: readonly string[]): Promise<Finding[]> {
  const stdout = await output(python, 'cfn-lint', [
    ...['--format', 'json', '--regions', ...REGIONS],
    ...['--template', ...files],
  ]);
  return (JSON.parse(stdout) as CfnLintMatch[]).map(({ Filename, Message, Rule, Location }) => {
    const [section, id, ...rest] = Location.Path ?? [];
    const at = section === 'Resources' ? named(Filename, String(id)) : `${basename(Filename)} ${section}/${id}`;
    return { rule: Rule.Id, where: [at, ...rest].join('/'), what: Message };
  });
}

interface CheckovReport {
  readonly summary: { readonly passed: number; readonly parsing_errors: number };
  readonly results: {
    readonly failed_checks: readonly {
      readonly check_id: string;
      readonly check_name: string;
      readonly resource: string;
      readonly file_abs_path: string;
    }[];
  };
}

export interface CheckovResult {
  readonly passed: number;
  readonly findings: readonly Finding[];
}

/** Failed checks, and how many passed: none at all would mean that nothing was read. */
export async function checkov(python: PythonEnvironment, files: readonly string[]): Promise<CheckovResult> {
  const stdout = await output(python, 'checkov', [
    ...['--framework', 'cloudformation', '--compact', '--quiet', '--skip-download', '--output', 'json'],
    ...files.flatMap((file) => ['--file', file]),
  ]);
  const { summary, results } = JSON.parse(stdout) as CheckovReport;
  if (summary.parsing_errors > 0) throw new Error(`checkov could not read ${summary.parsing_errors} of ${files}`);
  const findings = results.failed_checks.map(({ check_id, check_name, resource, file_abs_path }) => ({
    rule: check_id,
    where: named(file_abs_path, resource.split('.').at(-1)!),
    what: check_name,
  }));
  return { passed: summary.passed, findings };
}

/** A resource as the tables name it: its stack, its type, its logical id. */
function named(file: string, logicalId: string): string {
  const { Resources } = JSON.parse(readFileSync(file, 'utf8')) as Template;
  return `${basename(file, '.template.json')} ${Resources[logicalId]?.Type} ${logicalId}`;
}

/** Both end with another code than 0 when they found something, and with no JSON when they failed. */
function output(python: PythonEnvironment, linter: string, args: readonly string[]): Promise<string> {
  const options = { maxBuffer: 256 * 1024 * 1024, env: { PATH: process.env.PATH ?? '', LOG_LEVEL: 'ERROR' } };
  return new Promise((resolve, reject) => {
    execFile(python.python, [python.script(linter), ...args], options, (error, stdout, stderr) => {
      if (/^\s*[[{]/.test(stdout)) resolve(stdout);
      else reject(new Error(`${linter} said nothing that can be read\n${stdout}\n${stderr}`, { cause: error }));
    });
  });
}
