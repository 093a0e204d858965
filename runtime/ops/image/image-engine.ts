/** The user's container engine: which one, and whether it answers. */
import { basename } from 'node:path';
import type { Shell } from '../../host';
import { runProgram } from './image-process';

/** In the order in which they are looked for. */
export const ENGINES = ['docker', 'finch', 'podman'] as const;
export type EngineKind = (typeof ENGINES)[number];

export interface Engine {
  readonly kind: EngineKind;
  /** What is started: a name on PATH or a path. */
  readonly program: string;
}

/** An engine that waits for its virtual machine for longer than this is taken for one that does not answer. */
const ANSWER_MS = 30_000;

const START: Readonly<Record<EngineKind, string>> = {
  docker: 'start Docker Desktop, or: sudo systemctl start docker',
  finch: 'run: finch vm start',
  podman: 'run: podman machine start (on Linux there is nothing to start: see what `podman info` says)',
};

export const WITHOUT_ENGINE =
  'A deploy with the CDK builds the same image where it runs, so this is only needed to push it yourself, as for ' +
  'Azure: run it on a machine (or in a CI job) that has an engine.';

/**
 * The engine that is asked for, that CDK_DOCKER names, or the first one on PATH, in this order; in words why there is
 * none, or why it cannot be used.
 */
export async function findEngine(shell: Shell, asked: string | undefined, answerMs = ANSWER_MS) {
  if (asked !== undefined && !ENGINES.some((kind) => kind === asked)) {
    return `--engine: received ${JSON.stringify(asked)}; allowed: ${ENGINES.join(', ')}`;
  }
  const named = asked ?? (shell.env.CDK_DOCKER || undefined);
  const from = asked === undefined ? 'CDK_DOCKER names' : '--engine names';
  for (const program of named === undefined ? ENGINES : [named]) {
    const engine: Engine = { kind: kindOf(program), program };
    const found = await runProgram(program, ['--version'], { env: shell.env, timeoutMs: answerMs });
    if (found !== undefined) return answering(shell, engine, answerMs);
  }
  return named === undefined
    ? `found none of ${ENGINES.join(', ')} on PATH; install one of them, or name it with --engine or CDK_DOCKER. ${WITHOUT_ENGINE}`
    : `${from} ${named}, which cannot be run: install it, or name another one of ${ENGINES.join(', ')}. ${WITHOUT_ENGINE}`;
}

/** CDK_DOCKER may name any program that takes Docker's arguments. */
function kindOf(program: string): EngineKind {
  const name = basename(program).toLowerCase();
  if (name.includes('podman')) return 'podman';
  // Finch is nerdctl in a virtual machine.
  return name.includes('finch') || name.includes('nerdctl') ? 'finch' : 'docker';
}

/** A client without its server builds nothing: better known before than in the middle. */
async function answering(shell: Shell, engine: Engine, timeoutMs: number): Promise<Engine | string> {
  const probe = engine.kind === 'docker' ? 'version' : 'info';
  const asked = await runProgram(engine.program, [probe], { env: shell.env, timeoutMs });
  if (asked?.code === 0) return engine;
  const said = asked?.all.trim().split('\n').at(-1)?.trim() ?? '';
  const why = asked?.code === undefined ? `it said nothing for ${timeoutMs / 1_000} s` : said;
  return `${engine.program} is installed but does not answer (${why}); ${START[engine.kind]}; or name another engine with --engine`;
}
