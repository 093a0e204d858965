/** The command line of the CDK, run on a synthesized app as people run it. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACCOUNT, type AwsEmulator, REGION, ROOT } from './emulator';

const CLI = join(__dirname, '../../node_modules/aws-cdk/bin/cdk');

export interface Cdk {
  bootstrap(): Promise<string>;
  /** Deploys all stacks of a folder that `app.synth()` made. Answers the outputs by stack. */
  deploy(assembly: string): Promise<{ readonly said: string; readonly outputs: Outputs }>;
  /** Destroys all stacks of it. */
  destroy(assembly: string): Promise<string>;
}

export type Outputs = Readonly<Record<string, Readonly<Record<string, string>>>>;

export function cdkFor(aws: AwsEmulator): Cdk {
  return {
    bootstrap: () => cdk(aws, ['bootstrap', `aws://${ACCOUNT}/${REGION}`]),
    async deploy(assembly) {
      const outputs = join(aws.folder, 'outputs.json');
      const said = await cdk(aws, [
        ...['deploy', '--app', assembly, '--all', '--require-approval', 'never'],
        ...['--progress', 'events', '--outputs-file', outputs],
      ]);
      return { said, outputs: JSON.parse(readFileSync(outputs, 'utf8')) as Outputs };
    },
    destroy: (assembly) => cdk(aws, ['destroy', '--app', assembly, '--all', '--force']),
  };
}

/** What it said; an error with what matters of it when it failed. */
function cdk(aws: AwsEmulator, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [CLI, '--no-notices', '--no-color', ...args], {
    cwd: aws.folder,
    env: {
      ...aws.environment,
      AWS_ACCESS_KEY_ID: ROOT.accessKeyId,
      AWS_SECRET_ACCESS_KEY: ROOT.secretAccessKey,
      // It remembers which account a key belongs to: of this emulator, not of the user's.
      CDK_HOME: join(aws.folder, 'cdk-home'),
      CDK_DISABLE_CLI_TELEMETRY: 'true',
      CI: 'true',
      NODE_NO_WARNINGS: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(said);
      else reject(new Error(`cdk ${args.join(' ')} ended with ${code}:\n${why(said)}`));
    });
  });
}

/** The events of a deploy are hundreds of lines, in which those that failed are lost. */
function why(said: string): string {
  const lines = said.split('\n');
  const failed = lines.filter((line) => /_FAILED|❌|Error/.test(line));
  return (failed.length > 0 ? failed : lines.slice(-40)).join('\n');
}
