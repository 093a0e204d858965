/** Pulumi's engine, run as people run it, with the stand-ins for its plugins attached: nothing leaves this machine. */
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pulumiCli } from './cli';
import { type LanguageHost, startLanguageHost } from './language-host/host';
import { Cloud } from './provider/cloud';
import { startAzureProvider } from './provider/provider';

export const ROOT = join(__dirname, '../..');
const STACK = 'test';

export interface EngineOptions {
  /** Folder with the project's Pulumi.yaml. */
  readonly project: string;
  /** Ids of resources that exist and are not the stack's. */
  readonly outside: readonly string[];
}

export interface Said {
  readonly code: number | null;
  /** What the command, the program and policy packs wrote. */
  readonly text: string;
}

export interface Engine {
  readonly cloud: Cloud;
  /** The same stack, by another program of the same project name. */
  by(project: string): Pick<Engine, 'succeed' | 'fail'>;
  /** One command that must succeed. */
  succeed(...args: readonly string[]): Promise<string>;
  /** One command that must fail. */
  fail(...args: readonly string[]): Promise<string>;
  configure(values: Readonly<Record<string, string>>, secrets?: Readonly<Record<string, string>>): Promise<void>;
  /** Everything that commands have written so far. */
  said(): string;
  /** Everything that was kept: state, history, configuration, the cloud. */
  kept(): string;
  stop(): Promise<void>;
}

export async function startEngine({ project, outside }: EngineOptions): Promise<Engine> {
  const cli = await pulumiCli(console.log);
  const folder = mkdtempSync(join(tmpdir(), 'chargeonce-pulumi-'));
  // A stack's settings are written beside the project's: beside a copy of them, so that the project stays as it is.
  for (const name of ['bin', 'state', 'settings']) mkdirSync(join(folder, name));
  copyFileSync(join(project, 'Pulumi.yaml'), join(folder, 'settings', 'Pulumi.yaml'));
  // Policy packs are run only by a host whose file is found; the one that is attached answers in its place.
  writeFileSync(join(folder, 'bin', 'pulumi-language-nodejs'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const cloud = new Cloud(join(folder, 'cloud.json'), outside);
  const alone = environmentOf(folder);
  const [host, provider] = await Promise.all([startLanguageHost(alone), startAzureProvider(cloud)]);
  const environment = {
    ...alone,
    PULUMI_DEBUG_LANGUAGES: `nodejs:${host.port}`,
    PULUMI_DEBUG_PROVIDERS: `azure-native:${provider.port}`,
  };
  const run = (cwd: string, args: readonly string[]) =>
    pulumi(cli, [...args, '--cwd', cwd, '--non-interactive'], environment, host);
  const said: string[] = [];
  const settings = join(folder, 'settings', `Pulumi.${STACK}.yaml`);
  const expected = async (succeeds: boolean, cwd: string, args: readonly string[]) => {
    const { code, text } = await run(cwd, args);
    said.push(text);
    if ((code === 0) === succeeds) return text;
    throw new Error(`pulumi ${args.join(' ')} ended with ${code}, expected ${succeeds ? '0' : 'another'}:\n${text}`);
  };
  const by = (cwd: string) => {
    const onStack = (args: readonly string[]) => [...args, '--stack', STACK, '--config-file', settings];
    return {
      succeed: (...args: readonly string[]) => expected(true, cwd, onStack(args)),
      fail: (...args: readonly string[]) => expected(false, cwd, onStack(args)),
    };
  };
  const { succeed, fail } = by(project);
  const engine: Engine = {
    cloud,
    by,
    succeed,
    fail,
    async configure(values, secrets = {}) {
      const pairs = (flag: string, all: Readonly<Record<string, string>>) =>
        Object.entries(all).flatMap(([key, value]) => [flag, `${key}=${value}`]);
      await succeed('config', 'set-all', ...pairs('--plaintext', values), ...pairs('--secret', secrets));
    },
    said: () => said.join('\n'),
    kept: () => textOf(folder),
    async stop() {
      host.stop();
      provider.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await expected(true, join(folder, 'settings'), ['stack', 'init', STACK]);
  return engine;
}

/** Nothing of the user's Pulumi, and no way out: no update check, no download of plugins, a backend in a folder. */
function environmentOf(folder: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(PULUMI|ARM|AZURE|NODE_OPTIONS|VITEST)/.test(name));
  return {
    ...Object.fromEntries(own),
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    PULUMI_HOME: join(folder, 'home'),
    PULUMI_BACKEND_URL: `file://${join(folder, 'state')}`,
    PULUMI_CONFIG_PASSPHRASE: 'of a test',
    PULUMI_SKIP_UPDATE_CHECK: 'true',
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: 'true',
    NO_COLOR: '1',
    CI: 'true',
    NODE_ENV: 'production',
  };
}

function pulumi(cli: string, args: readonly string[], env: NodeJS.ProcessEnv, host: LanguageHost): Promise<Said> {
  const child = spawn(cli, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, text: text + host.takeOutput() }));
  });
}

function textOf(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
}
