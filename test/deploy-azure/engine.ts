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
import { startWayOut } from './way-out';

export const ROOT = join(__dirname, '../..');
const STACK = 'test';
const SETTINGS = 'settings';

type Environment = Readonly<Record<string, string>>;

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
  /** The same stack, by another program of the same project name, or in another environment. */
  by(project: string, environment?: Environment): Pick<Engine, 'succeed' | 'fail'>;
  /** One command that must succeed. */
  succeed(...args: readonly string[]): Promise<string>;
  /** One command that must fail. */
  fail(...args: readonly string[]): Promise<string>;
  configure(values: Environment, secrets?: Environment): Promise<void>;
  /** Every host that anything asked for beyond loopback. */
  readonly askedOutside: readonly string[];
  /** Everything that commands have written so far. */
  said(): string;
  /** Everything that was kept: state, history, configuration, the cloud. */
  kept(): string;
  stop(): void;
}

export async function startEngine({ project, outside }: EngineOptions): Promise<Engine> {
  const cli = await pulumiCli(console.log);
  const folder = folderFor(project);
  const cloud = new Cloud(join(folder, 'cloud.json'), outside);
  const wayOut = await startWayOut();
  const alone = { ...environmentOf(folder), ...wayOut.environment };
  const [host, provider] = await Promise.all([startLanguageHost(alone), startAzureProvider(cloud)]);
  const attached = {
    ...alone,
    PULUMI_DEBUG_LANGUAGES: `nodejs:${host.port}`,
    PULUMI_DEBUG_PROVIDERS: `azure-native:${provider.port}`,
  };
  const said: string[] = [];
  const command = async (succeeds: boolean, args: readonly string[], cwd: string, own: Environment = {}) => {
    const { code, text } = await pulumi(
      cli,
      [...args, '--cwd', cwd, '--non-interactive'],
      { ...attached, ...own },
      host,
    );
    said.push(text);
    if ((code === 0) === succeeds) return text;
    throw new Error(`pulumi ${args.join(' ')} ended with ${code}, expected ${succeeds ? '0' : 'another'}:\n${text}`);
  };
  const onStack = ['--stack', STACK, '--config-file', join(folder, SETTINGS, `Pulumi.${STACK}.yaml`)];
  const by = (cwd: string, own?: Environment) => ({
    succeed: (...args: readonly string[]) => command(true, [...args, ...onStack], cwd, own),
    fail: (...args: readonly string[]) => command(false, [...args, ...onStack], cwd, own),
  });
  const stop = () => {
    for (const server of [host, provider, wayOut]) server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  await command(true, ['stack', 'init', STACK], join(folder, SETTINGS)).catch((error: unknown) => {
    stop();
    throw error;
  });
  return {
    cloud,
    by,
    ...by(project),
    async configure(values, secrets = {}) {
      const pairs = (flag: string, all: Environment) =>
        Object.entries(all).flatMap(([key, value]) => [flag, `${key}=${value}`]);
      await by(project).succeed('config', 'set-all', ...pairs('--plaintext', values), ...pairs('--secret', secrets));
    },
    askedOutside: wayOut.asked,
    said: () => said.join('\n'),
    kept: () => textOf(folder),
    stop,
  };
}

function folderFor(project: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'chargeonce-pulumi-'));
  for (const name of ['bin', 'state', SETTINGS]) mkdirSync(join(folder, name));
  // A stack's settings are written beside the project's: beside a copy of them, so that the project stays as it is.
  copyFileSync(join(project, 'Pulumi.yaml'), join(folder, SETTINGS, 'Pulumi.yaml'));
  // Policy packs are run only by a host whose file is found; the one that is attached answers in its place.
  writeFileSync(join(folder, 'bin', 'pulumi-language-nodejs'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  return folder;
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
