/** Pulumi's engine, run as people run it, with the stand-ins for its plugins attached: nothing leaves this machine. */
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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
  /** One command on the stack, of which any exit code is fine. */
  run(...args: readonly string[]): Promise<Said>;
  /** One command that must succeed. */
  succeed(...args: readonly string[]): Promise<string>;
  /** One command that must fail. */
  fail(...args: readonly string[]): Promise<string>;
  configure(values: Readonly<Record<string, string>>, secrets?: Readonly<Record<string, string>>): Promise<void>;
  outputs(): Promise<Readonly<Record<string, unknown>>>;
  /** Everything that was kept: state, history, configuration, the cloud. */
  kept(): string;
  stop(): Promise<void>;
}

export async function startEngine({ project, outside }: EngineOptions): Promise<Engine> {
  const cli = await pulumiCli(console.log);
  const folder = mkdtempSync(join(tmpdir(), 'chargeonce-pulumi-'));
  // A stack's settings are written beside the project's: beside a copy of them, so that the project stays as it is.
  for (const name of ['state', 'settings']) mkdirSync(join(folder, name));
  copyFileSync(join(project, 'Pulumi.yaml'), join(folder, 'settings', 'Pulumi.yaml'));
  const cloud = new Cloud(join(folder, 'cloud.json'), outside);
  const [host, provider] = await Promise.all([startLanguageHost(), startAzureProvider(cloud)]);
  const environment = environmentOf(folder, dirname(cli), host.port, provider.port);
  const run = (cwd: string, args: readonly string[]) =>
    pulumi(cli, [...args, '--cwd', cwd, '--non-interactive'], environment, host);
  const settings = join(folder, 'settings', `Pulumi.${STACK}.yaml`);
  const onStack = (...args: readonly string[]) => run(project, [...args, '--stack', STACK, '--config-file', settings]);
  const expected = async (succeeds: boolean, args: readonly string[], said: Promise<Said>) => {
    const { code, text } = await said;
    if ((code === 0) === succeeds) return text;
    throw new Error(`pulumi ${args.join(' ')} ended with ${code}, expected ${succeeds ? '0' : 'another'}:\n${text}`);
  };
  const succeed = (...args: readonly string[]) => expected(true, args, onStack(...args));
  const engine: Engine = {
    cloud,
    run: onStack,
    succeed,
    fail: (...args) => expected(false, args, onStack(...args)),
    async configure(values, secrets = {}) {
      const pairs = (flag: string, all: Readonly<Record<string, string>>) =>
        Object.entries(all).flatMap(([key, value]) => [flag, `${key}=${value}`]);
      await succeed('config', 'set-all', ...pairs('--plaintext', values), ...pairs('--secret', secrets));
    },
    async outputs() {
      const { text } = await run(project, ['stack', 'output', '--json', '--show-secrets', '--stack', STACK]);
      return JSON.parse(text) as Record<string, unknown>;
    },
    kept: () => textOf(folder),
    async stop() {
      host.stop();
      provider.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await expected(true, ['stack', 'init'], run(join(folder, 'settings'), ['stack', 'init', STACK]));
  return engine;
}

/** Nothing of the user's Pulumi, and no way out: no update check, no download of plugins, a backend in a folder. */
function environmentOf(folder: string, bin: string, hostPort: number, providerPort: number): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(PULUMI|ARM|AZURE|NODE_OPTIONS|VITEST)/.test(name));
  return {
    ...Object.fromEntries(own),
    PATH: `${bin}:${process.env.PATH}`,
    PULUMI_HOME: join(folder, 'home'),
    PULUMI_BACKEND_URL: `file://${join(folder, 'state')}`,
    PULUMI_CONFIG_PASSPHRASE: 'of a test',
    PULUMI_SKIP_UPDATE_CHECK: 'true',
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: 'true',
    PULUMI_DEBUG_LANGUAGES: `nodejs:${hostPort}`,
    PULUMI_DEBUG_PROVIDERS: `azure-native:${providerPort}`,
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
