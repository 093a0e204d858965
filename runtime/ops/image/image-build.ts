/** Builds the packaged folder with an engine, pushes it when asked to, and finds out its digest. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Shell } from '../../host';
import type { Engine } from './image-engine';
import { type Ran, runProgram } from './image-process';
import type { ImageSettings } from './image-settings';

export interface BuiltImage {
  /** What to run or deploy: `repository@sha256:…` when pushed, otherwise the local id. */
  readonly image: string;
  readonly engine: Engine['kind'];
  readonly platform: ImageSettings['platform'];
  /** Name and tag. */
  readonly reference: string;
  /** Id in the engine's own store. */
  readonly id: string;
  /** Absent unless pushed. */
  readonly digest?: string;
}

/** The engine failed; the message says at what, and what to do. */
export class ImageFailed extends Error {
  override readonly name = 'ImageFailed';
}

const DIGEST = /sha256:[0-9a-f]{64}/;

export async function buildImage(
  settings: ImageSettings,
  engine: Engine,
  folder: string,
  shell: Shell,
): Promise<BuiltImage> {
  const { platform, push } = settings;
  const reference = `${push ?? 'chargeonce'}:${settings.tag}`;
  const builder = new Builder(engine, platform, shell);
  await builder.build(reference, folder);
  const pushed = push === undefined ? undefined : await builder.push(reference);
  const { id, digests } = await builder.inspect(reference);
  const common = { engine: engine.kind, platform, reference, id };
  if (push === undefined) return { image: id, ...common };
  const digest = pushed ?? onlyOne(digests, push);
  if (digest === undefined) {
    throw new ImageFailed(
      `${reference} was pushed, but ${engine.program} does not say under which digest (it names ` +
        `${digests.length === 0 ? 'none' : digests.join(', ')}). Deploy by digest only: look it up in the registry.`,
    );
  }
  return { image: `${push}@${digest}`, ...common, digest };
}

class Builder {
  constructor(
    private readonly engine: Engine,
    private readonly platform: string,
    private readonly shell: Shell,
  ) {}

  async build(reference: string, folder: string): Promise<void> {
    const command = (await this.hasBuildx()) ? ['buildx', 'build', '--load'] : ['build'];
    const ran = await this.run([...command, '--platform', this.platform, '--tag', reference, folder]);
    if (ran.code !== 0) throw this.failed('build', ran, `it failed to build ${folder}`);
  }

  /** Answers the digest, if the engine says it by itself. */
  async push(reference: string): Promise<string | undefined> {
    if (this.engine.kind === 'podman') return this.pushWithFile(reference);
    // Finch pushes the platform of its own machine, and fails when the image has another one.
    const platform = this.engine.kind === 'finch' ? ['--platform', this.platform] : [];
    const ran = await this.run(['push', ...platform, reference]);
    if (ran.code !== 0) throw this.failed('push', ran, loginHint(this.engine, reference));
    return pushedDigest(ran.all);
  }

  private async pushWithFile(reference: string): Promise<string | undefined> {
    const scratch = await mkdtemp(join(tmpdir(), 'chargeonce-image-'));
    try {
      const file = join(scratch, 'digest');
      const ran = await this.run(['push', '--digestfile', file, reference]);
      if (ran.code !== 0) throw this.failed('push', ran, loginHint(this.engine, reference));
      return DIGEST.exec(await readFile(file, 'utf8').catch(() => ''))?.[0];
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  async inspect(reference: string): Promise<{ id: string; digests: readonly string[] }> {
    const platform = this.engine.kind === 'finch' ? ['--platform', this.platform] : [];
    const ran = await runProgram(this.engine.program, ['image', 'inspect', ...platform, reference], this.options());
    const found = ran?.code === 0 ? readInspected(ran.out) : undefined;
    if (found !== undefined) return found;
    throw this.failed('image inspect', ran, `it does not know ${reference}, which it has just built`);
  }

  /** With another builder than Docker's own, the image would stay in that builder unless it is told to hand it over. */
  private async hasBuildx(): Promise<boolean> {
    if (this.engine.kind !== 'docker') return false;
    return (await runProgram(this.engine.program, ['buildx', 'version'], this.options()))?.code === 0;
  }

  private async run(args: readonly string[]): Promise<Ran> {
    const { engine, shell } = this;
    shell.err(`$ ${[engine.program, ...args].join(' ')}\n`);
    const ran = await runProgram(engine.program, args, { ...this.options(), onOutput: shell.err });
    if (ran === undefined) throw new ImageFailed(`${engine.program} cannot be run any more`);
    return ran;
  }

  private options() {
    // An attestation would make an index of two out of the one image whose digest is to be deployed.
    return { env: { ...this.shell.env, BUILDX_NO_DEFAULT_ATTESTATIONS: '1' } };
  }

  private failed(what: string, ran: Ran | undefined, hint: string): ImageFailed {
    const end = ran?.code === undefined ? 'was ended by a signal' : `ended with ${ran.code}`;
    return new ImageFailed(`${this.engine.program} ${what} ${end}: ${hint}`);
  }
}

/** Docker ends with `<tag>: digest: sha256:… size: …`; nerdctl names the image that it pushes before it does. */
function pushedDigest(said: string): string | undefined {
  const [, docker] = /\bdigest: (sha256:[0-9a-f]{64})\b/.exec(said) ?? [];
  const [, nerdctl] = /\breduced-platform image \([^,]*, (sha256:[0-9a-f]{64})\)/.exec(said) ?? [];
  return docker ?? nerdctl;
}

function readInspected(json: string): { id: string; digests: readonly string[] } | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const [image] = Array.isArray(parsed) ? (parsed as { Id?: unknown; RepoDigests?: unknown }[]) : [];
  if (typeof image?.Id !== 'string') return undefined;
  const digests = Array.isArray(image.RepoDigests) ? image.RepoDigests.map(String) : [];
  // Podman leaves the algorithm out.
  return { id: image.Id.includes(':') ? image.Id : `sha256:${image.Id}`, digests };
}

function onlyOne(digests: readonly string[], repository: string): string | undefined {
  const names = [repository, `docker.io/${repository}`, `docker.io/library/${repository}`];
  const found = digests.flatMap((each) => {
    const [name = '', digest = ''] = each.split('@');
    return names.includes(name) && DIGEST.test(digest) ? [digest] : [];
  });
  const distinct = [...new Set(found)];
  return distinct.length === 1 ? distinct[0] : undefined;
}

function loginHint({ program, kind }: Engine, reference: string): string {
  const host = reference.includes('/') ? reference.split('/')[0]! : '';
  const first = 'if it was refused, log in first: ';
  const [, region] = /\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\./.exec(host) ?? [];
  if (region !== undefined) {
    return (
      `${first}aws ecr get-login-password --region ${region} | ` +
      `${program} login --username AWS --password-stdin ${host}; the repository must exist as well`
    );
  }
  const [, registry] = /^([^.]+)\.azurecr\.(?:io|cn|us)$/.exec(host) ?? [];
  if (registry !== undefined) return `${first}${acrLogin(registry, host, { program, kind })}, as one who may AcrPush`;
  return `${first}${program} login${host.includes('.') || host.includes(':') ? ` ${host}` : ''}`;
}

/** Azure's own command logs Docker in; any other engine is given the token, whose user is always called so. */
function acrLogin(registry: string, host: string, { program, kind }: Engine): string {
  if (kind === 'docker') return `az acr login --name ${registry}`;
  return (
    `az acr login --name ${registry} --expose-token --query accessToken --output tsv | ` +
    `${program} login --username 00000000-0000-0000-0000-000000000000 --password-stdin ${host}`
  );
}
