/** The AWS emulator as a process of its own, on loopback, with folders of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../emulators/free-port';
import { until } from '../support/until';
import { pythonEnvironment } from './python';

export const REGION = 'us-east-1';
export const ACCOUNT = '000000000000';
/** Any key that is no account number and no session of a role is the account's root. */
export const ROOT = { accessKeyId: 'test', secretAccessKey: 'test' };

export interface AwsEmulator {
  readonly url: string;
  /** Removed at the end, with everything that was put into it. */
  readonly folder: string;
  /** What a program needs in order to talk to the emulator and to nothing else; no credentials. */
  readonly environment: Readonly<Record<string, string>>;
  /** While enforced, a role may do what its policies say; the root may do everything. */
  enforceIam(enforced: boolean): Promise<void>;
  close(): Promise<void>;
}

export async function startAwsEmulator(): Promise<AwsEmulator> {
  const { python } = await pythonEnvironment('requirements.txt');
  const folder = mkdtempSync(join(tmpdir(), 'chargeonce-deploy-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const environment = environmentFor(url, folder);
  const log = join(folder, 'emulator.log');
  const child = spawn(python, ['-m', 'aws_emulator'], {
    cwd: __dirname,
    env: { ...environment, ...ownFolders(folder), PYTHONPATH: __dirname, GATEWAY_PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const file = createWriteStream(log);
  child.stdout.pipe(file, { end: false });
  child.stderr.pipe(file, { end: false });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const close = async () => {
    child.kill('SIGKILL');
    await ended;
    file.end();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await until('the AWS emulator answers', () => healthy(url, child, log));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url,
    folder,
    environment,
    async enforceIam(enforced) {
      const { status } = await fetch(`${url}/_chargeonce/iam`, { method: enforced ? 'PUT' : 'DELETE' });
      if (status !== 204) throw new Error(`The emulator answered ${status} to the switch of IAM`);
    },
    close,
  };
}

async function healthy(url: string, child: ChildProcess, log: string): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`The AWS emulator ended:\n${readFileSync(log, 'utf8')}`);
  const response = await fetch(`${url}/_ministack/health`).catch(() => undefined);
  return response?.ok ?? false;
}

function environmentFor(url: string, folder: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    AWS_ENDPOINT_URL: url,
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    NO_PROXY: '127.0.0.1',
  };
}

/** Nothing is left in the folders of this machine, nor beside the sources. */
function ownFolders(folder: string): Record<string, string> {
  const own = { TMPDIR: join(folder, 'tmp'), STATE_DIR: join(folder, 'state'), S3_DATA_DIR: join(folder, 's3') };
  for (const each of Object.values(own)) mkdirSync(each);
  return { ...own, BIND_HOST: '127.0.0.1', MINISTACK_HOST: '127.0.0.1', PYTHONDONTWRITEBYTECODE: '1' };
}
