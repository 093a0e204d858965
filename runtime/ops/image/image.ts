/** `chargeonce image build`: the packaged image, built and pushed by the user's own engine. */

import { imageFolder } from '../image-folder';
import type { ExitCode, Verb, VerbContext } from '../verb';
import { type BuiltImage, buildImage, ImageFailed } from './image-build';
import { ENGINES, findEngine } from './image-engine';
import { type ImageSettings, imageSettings } from './image-settings';

const HELP = `chargeonce image build: build the image that the consumer runs, and push it

A deploy with the CDK builds the same image by itself; this is for those who deploy an image by digest, from a registry
of their own, as the components for Azure do. The folder comes with the package: a base image and one file, no build step, so any machine builds it for
any platform. What is done to it is what ${ENGINES.join(', ')} do: nothing else is installed or started.

  --push <repository>   pushes it there (log in before); absent: it stays in the engine
  --acr <name>          pushes it to chargeonce on this Azure container registry (az acr login before), for event-hubs
  --tag <tag>           absent: the version of this package
  --source <s>          kinesis or event-hubs; absent: kinesis, with --acr event-hubs
  --platform <p>        linux/arm64 or linux/amd64; absent: linux/arm64 for kinesis (the cpuArchitecture of the
                        consumer), linux/amd64 for event-hubs (all that Azure Container Apps run)
  --engine <e>          ${ENGINES.join(', ')}; absent: what CDK_DOCKER names, or the first one found on PATH
  --json                what was built as one JSON document on stdout

Stdout has one line: repository@sha256:… when it was pushed, otherwise the image's id. The rest is on stderr.
Exit codes: 0 built (and pushed), 2 could not do it.
`;

export const imageVerb: Verb = {
  name: 'image',
  summary: 'build the packaged image with docker, finch or podman, and push it (image build)',
  help: HELP,
  options: {
    push: { type: 'string' },
    acr: { type: 'string' },
    tag: { type: 'string' },
    platform: { type: 'string' },
    source: { type: 'string' },
    engine: { type: 'string' },
    json: { type: 'boolean' },
  },
  positionals: { min: 0, max: 1 },
  async run(context) {
    const { shell, positionals, refuse } = context;
    const [what] = positionals;
    if (what !== 'build') {
      const received = what === undefined ? 'say what to do with it' : `received ${JSON.stringify(what)}`;
      return refuse(`${received}; there is: build.\nTry: chargeonce image build --push <repository>`);
    }
    const settings = imageSettings(context);
    if (typeof settings === 'string') return refuse(settings);
    const image = imageFolder(settings.source);
    if ('problem' in image) return refuse(image.problem);
    const engine = await findEngine(shell, settings.engine);
    if (typeof engine === 'string') return refuse(engine);
    try {
      return say(context, await buildImage(settings, engine, image.folder, shell), settings.source);
    } catch (error) {
      if (error instanceof ImageFailed) return refuse(error.message);
      throw error;
    }
  },
};

function say({ shell, values }: VerbContext, built: BuiltImage, source: ImageSettings['source']): ExitCode {
  shell.out(values.json === true ? `${JSON.stringify(built)}\n` : `${built.image}\n`);
  shell.err(next(built, source));
  return 0;
}

/** What to type next. */
function next(built: BuiltImage, source: ImageSettings['source']): string {
  const { digest, reference, platform } = built;
  const typed = source === 'kinesis' ? typedForAws : typedForAzure;
  if (digest !== undefined) return `Pushed ${reference} for ${platform}. ${typed(built, digest)}`;
  const flag = source === 'kinesis' ? '--push <repository>' : '--acr <registry>';
  return `Built ${reference} for ${platform}, not pushed. To deploy it: chargeonce image build ${flag}\n`;
}

/** ECR needs the grant that a name of any other registry does not. */
function typedForAws({ image, platform }: BuiltImage, digest: string): string {
  const [, repository] = /\.dkr\.ecr\.[^/]+\/([^@]+)@/.exec(image) ?? [];
  const typed =
    repository === undefined
      ? `ecs.ContainerImage.fromRegistry('${image}')`
      : `ecs.ContainerImage.fromEcrRepository(ecr.Repository.fromRepositoryName(this, 'Image', '${repository}'), '${digest}')`;
  const architecture = platform === 'linux/arm64' ? '' : `\n  cpuArchitecture: ecs.CpuArchitecture.X86_64,`;
  return `In the props of the consumer:\n  image: ${typed},${architecture}\n`;
}

function typedForAzure({ image, platform }: BuiltImage): string {
  const warning = platform === 'linux/amd64' ? '' : `WARNING: Azure Container Apps run linux/amd64, not ${platform}.\n`;
  return `In the args of the component:\n  image: '${image}',\n${warning}`;
}
