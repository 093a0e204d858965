/** The image's reference: which registry it is on, and that it can only ever mean one image. */
import { shown, type WrongArg } from '../shared/wrong-args';

/** Host and port, repository in lower case, a tag that decides nothing, digest. */
const REFERENCE =
  /^(?=[^/]*[.:])[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d+)?(?:\/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)+(?::\w[\w.-]{0,127})?@sha256:[0-9a-f]{64}$/;

/** Azure's own registries, in each of its clouds. */
const AZURE_REGISTRY = /^([a-z0-9]{5,50})\.azurecr\.(?:io|cn|us)$/;

/** What is wrong when the reference is not pinned by a digest, or names no registry. */
export function wrongImage(image: unknown): WrongArg | undefined {
  if (typeof image === 'string' && REFERENCE.test(image)) return undefined;
  return {
    prop: 'image',
    received: typeof image === 'string' ? `${shown(image)}, ${whatIsWrong(image)}` : shown(image),
    allowed: '<registry>/<repository>@sha256:<64 hex digits>',
    wayOut:
      'A tag can be moved to another program between two restarts of a worker. ' +
      'npx chargeonce image build --acr <registry> builds the image, pushes it and prints this reference.',
  };
}

function whatIsWrong(image: string): string {
  if (image.includes('://')) return 'which begins with a scheme';
  if (image.includes('@')) {
    if (!/^[^/]*[.:][^/]*\//.test(image)) return 'which names no registry';
    if (/@sha256:(?=.*[A-F])[0-9a-fA-F]{64}$/.test(image)) return 'whose digest has capitals (lower-case only)';
    return /@sha256:[0-9a-f]{64}$/.test(image) ? 'whose repository is none (lower-case only)' : 'whose digest is none';
  }
  const tag = /:([\w.-]+)$/.exec(image)?.[1];
  return tag === undefined ? 'which has no digest and so means latest' : `which has the tag ${tag} and no digest`;
}

/** The host of the registry that a pinned reference is on. */
export function registryHost(image: string): string {
  return image.slice(0, image.indexOf('/')).toLowerCase();
}

/** Whether the host is one of Azure's registries, whose resource may have another name than its host. */
export function isAzureRegistry(host: string): boolean {
  return /\.azurecr\.(?:io|cn|us)$/.test(host);
}

/** The name of one of Azure's registries; nothing for any other host. */
export function azureRegistryName(host: string): string | undefined {
  return AZURE_REGISTRY.exec(host)?.[1];
}
