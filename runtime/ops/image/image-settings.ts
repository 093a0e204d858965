/** The options of `chargeonce image build`: checked, or what is wrong with them. */
import type { VerbContext } from '../verb';
import { packageVersion } from '../version';

const SOURCES = ['kinesis', 'event-hubs'] as const;
/** What the image runs on. On AWS the consumer's `cpuArchitecture` must be the same. */
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

/** Where a source's image runs unless it is said: Azure Container Apps run nothing but x86-64. */
const USUAL_PLATFORM = { kinesis: 'linux/arm64', 'event-hubs': 'linux/amd64' } as const;

const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const HOST = '(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::\\d{1,5})?/)?';
const REPOSITORY = new RegExp(`^${HOST}${COMPONENT}(?:/${COMPONENT})*$`);
/** Its name, or its login server in one of Azure's clouds. */
const ACR = /^([a-z0-9]{5,50})(?:\.azurecr\.(io|cn|us))?$/i;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

export function imageSettings({ values }: VerbContext): ImageSettings | string {
  const text = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined);
  const acr = text('acr');
  const source = oneOf('--source', SOURCES, text('source') ?? (acr === undefined ? 'kinesis' : 'event-hubs'));
  if (!source.ok) return source.problem;
  const platform = oneOf('--platform', PLATFORMS, text('platform') ?? USUAL_PLATFORM[source.value]);
  if (!platform.ok) return platform.problem;
  const tag = text('tag') ?? packageVersion();
  if (!TAG.test(tag)) {
    return `--tag: received ${JSON.stringify(tag)}; allowed: up to 128 letters, digits, dots, dashes and underscores`;
  }
  const repository = pushTo(text('push'), acr);
  if (typeof repository === 'object') return repository.problem;
  const engine = text('engine');
  return {
    source: source.value,
    platform: platform.value,
    tag,
    json: values.json === true,
    ...(repository === undefined ? {} : { push: repository }),
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

/** The repository that is pushed to, if any; or what is wrong with how it was said. */
function pushTo(push: string | undefined, acr: string | undefined): string | undefined | { readonly problem: string } {
  if (push !== undefined && acr !== undefined) {
    return { problem: `--push: received ${JSON.stringify(push)} beside --acr ${acr}; say one of them` };
  }
  if (acr === undefined) {
    const problem = push === undefined ? undefined : repositoryProblem(push);
    return problem === undefined ? push : { problem: `--push: received ${JSON.stringify(push)}; ${problem}` };
  }
  const [, name, cloud = 'io'] = ACR.exec(acr) ?? [];
  if (name !== undefined) return `${name.toLowerCase()}.azurecr.${cloud.toLowerCase()}/chargeonce`;
  return {
    problem:
      `--acr: received ${JSON.stringify(acr)}; allowed: the name of an Azure container registry, 5 to 50 letters and ` +
      'digits, e.g. contoso, or its login server, e.g. contoso.azurecr.io. For any other repository use --push',
  };
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
