/** An app on an AWS emulator of its own: bootstrapped, with what must be there before a deploy. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateSecretCommand } from '@aws-sdk/client-secrets-manager';
import type { App } from 'aws-cdk-lib';
import { type Cdk, cdkFor, type Outputs } from './cdk';
import { type AwsClients, awsClients } from './clients';
import { ACCOUNT, type AwsEmulator, REGION, startAwsEmulator } from './emulator';
import { DeployedStack } from './read-back/deployed-stack';
import { READERS } from './read-back/readers';

const STRIPE_KEY = 'rk_test_deployed_0123456789';
/** What the stacks call the secret that a platform team puts there. */
export const STRIPE_SECRET = 'billing/stripe-rk';

/** A synthesized app, in the folder that the CDK's command line reads. */
export interface Assembly {
  readonly folder: string;
  /** Names of its stacks, in the order in which they are deployed. */
  readonly stacks: readonly string[];
  /** Every type of resource that its templates have. */
  readonly types: readonly string[];
  remove(): void;
}

/** @param build Makes the app; synthesized here. */
export function assemble(build: (outdir: string) => App): Assembly {
  const folder = mkdtempSync(join(tmpdir(), 'chargeonce-assembly-'));
  const { stacks } = build(folder).synth();
  const types = stacks.flatMap(({ template }: { template: { Resources: Record<string, { Type: string }> } }) =>
    Object.values(template.Resources).map((resource) => resource.Type),
  );
  return {
    folder,
    stacks: stacks.map((stack) => stack.stackName),
    types: [...new Set(types)].sort(),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export interface Deployment {
  readonly aws: AwsEmulator;
  /** As the account's root. */
  readonly clients: AwsClients;
  readonly cdk: Cdk;
  deploy(assembly: Assembly): Promise<{ readonly said: string; readonly outputs: Outputs }>;
  /** What is deployed now. */
  stack(name: string): Promise<DeployedStack>;
  close(): Promise<void>;
}

export async function startDeployment(): Promise<Deployment> {
  const aws = await startAwsEmulator();
  const clients = awsClients(aws.url);
  const cdk = cdkFor(aws);
  try {
    await clients.secrets.send(new CreateSecretCommand({ Name: STRIPE_SECRET, SecretString: STRIPE_KEY }));
    await cdk.bootstrap();
  } catch (error) {
    await aws.close();
    throw error;
  }
  return {
    aws,
    clients,
    cdk,
    async deploy(assembly) {
      for (const tag of imageTags(assembly)) await putImage(aws, tag);
      return cdk.deploy(assembly.folder);
    },
    stack: (name) => DeployedStack.find(clients, name, READERS),
    close: () => aws.close(),
  };
}

interface AssetManifest {
  readonly dockerImages?: Readonly<Record<string, { readonly source: { readonly directory?: string } }>>;
}

function dockerImages({ folder, stacks }: Assembly): [tag: string, directory: string][] {
  return stacks.flatMap((stack) => {
    const manifest = JSON.parse(readFileSync(join(folder, `${stack}.assets.json`), 'utf8')) as AssetManifest;
    return Object.entries(manifest.dockerImages ?? {}).map(([tag, { source }]): [string, string] => [
      tag,
      join(folder, source.directory ?? ''),
    ]);
  });
}

const imageTags = (assembly: Assembly) => new Set(dockerImages(assembly).map(([tag]) => tag));

/** The folder that the image is made of: what is in it is what runs on AWS. */
export function imageFolder(assembly: Assembly): string {
  const [image] = dockerImages(assembly);
  if (!image) throw new Error(`The app of ${assembly.stacks} has no packaged image`);
  return image[1];
}

/**
 * Publishing the packaged image needs Docker, which is not here. The CDK publishes no image that the registry has
 * already, so one of that tag is put there first; its layers are never read.
 */
async function putImage(aws: AwsEmulator, imageTag: string): Promise<void> {
  const repositoryName = `cdk-hnb659fds-container-assets-${ACCOUNT}-${REGION}`;
  const imageManifest = JSON.stringify({ schemaVersion: 2, config: { digest: `sha256:${imageTag}` }, layers: [] });
  const response = await fetch(aws.url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-amz-json-1.1',
      'X-Amz-Target': 'AmazonEC2ContainerRegistry_V20150921.PutImage',
      Authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/${REGION}/ecr/aws4_request`,
    },
    body: JSON.stringify({ repositoryName, imageTag, imageManifest }),
  });
  const answer = await response.text();
  if (!response.ok && !/Image(Tag)?AlreadyExists/.test(answer))
    throw new Error(`PutImage: ${response.status} ${answer}`);
}
