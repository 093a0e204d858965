/** The processes of programs and policy packs: started, heard, ended. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ProgramInfo } from '@pulumi/pulumi/proto/language_pb';

export interface RuntimeOptions {
  /** Flags of node, before the runner. */
  readonly nodeargs: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class Children {
  private readonly running = new Set<ChildProcess>();
  private output = '';

  constructor(private readonly environment: NodeJS.ProcessEnv) {}

  start(
    args: readonly string[],
    cwd: string,
    own: NodeJS.ProcessEnv,
    hear: (stream: 'stdout' | 'stderr', chunk: Buffer) => void = () => {},
  ): { readonly child: ChildProcess; readonly ended: Promise<Exit> } {
    const env = { ...this.environment, ...own };
    const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.running.add(child);
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
        hear(name, chunk);
      });
    }
    const ended = new Promise<Exit>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
    return { child, ended: ended.finally(() => this.running.delete(child)) };
  }

  stop(signal: NodeJS.Signals): void {
    for (const child of this.running) child.kill(signal);
  }

  takeOutput(): string {
    const taken = this.output;
    this.output = '';
    return taken;
  }
}

/** What `runtime.options` of Pulumi.yaml asks for: TypeScript by the runner's own ts-node unless it is switched off. */
export function optionsOf(info: ProgramInfo | undefined): RuntimeOptions {
  const options = info?.getOptions()?.toJavaScript() ?? {};
  return {
    nodeargs: words(typeof options.nodeargs === 'string' ? options.nodeargs : ''),
    environment: options.typescript === false ? {} : { PULUMI_NODEJS_TYPESCRIPT: 'true' },
  };
}

function words(line: string): string[] {
  return (line.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
}

/** A script of the SDK that the program has, not of this one. */
export function sdkScript(directory: string, name: 'run' | 'run-policy-pack'): string {
  return createRequire(join(directory, 'program.js')).resolve(`@pulumi/pulumi/cmd/${name}`);
}
