/** The options of `chargeonce image build`: checked, or what is wrong with them. */
import type { VerbContext } from '../verb';
import { packageVersion } from '../version';

const SOURCES = ['kinesis'] as const;
/** What the image runs on. The consumer's `cpuArchitecture` must be the same. */
const PLATFORMS = ['linux/arm64', 'linux/amd64'] as const;
export type Platform = (typeof PLATFORMS)[number];

export interface ImageSettings {
  readonly source: (typeof SOURCES)[number];
  readonly platform: Platform;
  readonly tag: string;
  /** Repository to push to, without a tag; absent: the image stays here. */
  readonly push?: string;
  readonly engine?: string;
  readonly json: boolean;
}

const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const HOST = '(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::\\d{1,5})?/)?';
const REPOSITORY = new RegExp(`^${HOST}${COMPONENT}(?:/${COMPONENT})*$`);
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

export function imageSettings({ values }: VerbContext): ImageSettings | string {
  const text = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined);
  const source = oneOf('--source', SOURCES, text('source') ?? 'kinesis');
  if (!source.ok) return source.problem;
  const platform = oneOf('--platform', PLATFORMS, text('platform') ?? 'linux/arm64');
  if (!platform.ok) return platform.problem;
  const tag = text('tag') ?? packageVersion();
  if (!TAG.test(tag)) {
    return `--tag: received ${JSON.stringify(tag)}; allowed: up to 128 letters, digits, dots, dashes and underscores`;
  }
  const [push, engine] = [text('push'), text('engine')];
  const problem = push === undefined ? undefined : repositoryProblem(push);
  if (problem !== undefined) return `--push: received ${JSON.stringify(push)}; ${problem}`;
  return {
    source: source.value,
    platform: platform.value,
    tag,
    json: values.json === true,
    ...(push === undefined ? {} : { push }),
    ...(engine === undefined ? {} : { engine }),
  };
}

function oneOf<Value extends string>(option: string, allowed: readonly Value[], received: string) {
  const value = allowed.find((each) => each === received);
  return value === undefined
    ? ({
        ok: false,
        problem: `${option}: received ${JSON.stringify(received)}; allowed: ${allowed.join(', ')}`,
      } as const)
    : ({ ok: true, value } as const);
}

function repositoryProblem(repository: string): string | undefined {
  if (REPOSITORY.test(repository)) return undefined;
  const example = 'a repository, as in 123456789012.dkr.ecr.eu-west-1.amazonaws.com/chargeonce';
  const [, name, tag] = /^(.+):([A-Za-z0-9_][\w.-]*)$/.exec(repository) ?? [];
  if (name !== undefined && REPOSITORY.test(name)) return `the tag is said apart: --push ${name} --tag ${tag}`;
  if (repository.includes('@')) return `allowed: ${example}, without a digest: a new image has a new one`;
  if (repository.includes('://')) return `allowed: ${example}, without ${repository.split('://')[0]}://`;
  return `allowed: ${example}, in small letters`;
}
