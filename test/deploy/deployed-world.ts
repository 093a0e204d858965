/**
 * The composed stacks deployed, with what the emulator only records put next to it: a real PostgreSQL behind an endpoint
 * that checks RDS tokens, and Stripe. Containers run as processes, of the very files that the image is made of.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import * as iam from 'aws-cdk-lib/aws-iam';
import type { BillingConsumer } from '../../constructs/aws';
import { composedApp } from '../../stacks/aws/composed';
import { Worker } from '../../stacks/local/workers';
import { type StripeEmulator, startStripeEmulator } from '../emulators';
import { type ManagedPostgres, startManagedPostgres } from '../support/managed-postgres';
import { type RdsEndpoint, startRdsEndpoint } from '../support/rds/endpoint';
import { type DeployedContainer, deployedContainer } from './deployed-task';
import { type Assembly, assemble, type Deployment, imageFolder, startDeployment } from './deployment';
import { ACCOUNT, REGION } from './emulator';
import { assumeRole, type ContainerCredentials, containerCredentials, createRole, mayDo } from './identity';
import type { DeployedStack } from './read-back/deployed-stack';

/** Whoever may start the ops task. */
export const ON_CALL = 'billing-on-call';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export class DeployedWorld {
  #closers: (() => Promise<unknown>)[] = [];
  #workers: Worker[] = [];
  deployment!: Deployment;
  stripe!: StripeEmulator;
  postgres!: ManagedPostgres;
  rds!: RdsEndpoint;
  /** By name. */
  stacks!: Readonly<Record<string, DeployedStack>>;

  private constructor(readonly assembly: Assembly) {}

  static assemble(): Assembly {
    return assemble((outdir) => {
      const app = composedApp(outdir);
      const compute = app.node.findChild('Compute');
      const { opsTask } = compute.node.findChild('Consumer') as BillingConsumer;
      opsTask.grantRun(iam.Role.fromRoleName(compute, 'OnCall', ON_CALL));
      return app;
    });
  }

  static async start(assembly: Assembly): Promise<DeployedWorld> {
    const world = new DeployedWorld(assembly);
    try {
      await world.#start();
    } catch (error) {
      await world.close();
      throw error;
    }
    return world;
  }

  async #start(): Promise<void> {
    this.deployment = await startDeployment();
    this.#closers.push(() => this.deployment.close());
    const { clients, aws } = this.deployment;
    // The stacks name them; they are the account's own.
    for (const name of ['metering', ON_CALL]) await createRole(clients, name);
    await this.deployment.deploy(this.assembly);
    const stacks = this.assembly.stacks.map(async (name) => [name, await this.deployment.stack(name)] as const);
    this.stacks = Object.fromEntries(await Promise.all(stacks));
    await Promise.all([this.#startDatabase(), this.#startStripe()]);
    mkdirSync(join(aws.folder, 'logs'));
    writeFileSync(this.#rootCertificate, this.rds.authority.pem);
    await aws.enforceIam(true);
  }

  async #startDatabase(): Promise<void> {
    const { attributes } = await this.reading('AWS::RDS::DBInstance');
    const SecretId = attributes!['MasterUserSecret.SecretArn'];
    const { SecretString } = await this.deployment.clients.secrets.send(new GetSecretValueCommand({ SecretId }));
    const { username, password } = JSON.parse(SecretString!) as { username: string; password: string };
    const { properties } = await this.reading('AWS::RDS::DBInstance');
    const database = String(properties.DBName);
    this.postgres = await startManagedPostgres({ owner: username, ownerPassword: password, database });
    this.#closers.push(() => this.postgres.stop());
    this.rds = await startRdsEndpoint({ server: this.postgres.server, region: REGION, credentials: this.#mayConnect });
    this.#closers.push(() => this.rds.stop());
  }

  async #startStripe(): Promise<void> {
    this.stripe = await startStripeEmulator({ autoCustomers: true });
    this.#closers.push(() => this.stripe.close());
  }

  /** Sessions whose role may connect to the deployed database as the worker's user; the endpoint lets in no other. */
  readonly #mayConnect: Awaited<ReturnType<typeof assumeRole>>[] = [];

  /** The stack that has the one resource of a type. */
  #owner(type: string): DeployedStack {
    return Object.values(this.stacks).find((stack) => stack.ofType(type).length > 0)!;
  }

  physicalId(type: string): string {
    const stack = this.#owner(type);
    return stack.physicalIds[stack.ofType(type)[0]!]!;
  }

  reading(type: string) {
    const stack = this.#owner(type);
    return stack.read(stack.ofType(type)[0]!);
  }

  container(name: string): Promise<DeployedContainer> {
    const { clients, aws } = this.deployment;
    return deployedContainer(clients, aws.url, this.#owner('AWS::ECS::TaskDefinition'), name);
  }

  get #rootCertificate(): string {
    return join(this.deployment.aws.folder, 'rds.pem');
  }

  /** What a container of this run has besides what is deployed: where the stand-ins are, and its role's credentials. */
  async #environment(container: DeployedContainer): Promise<Record<string, string>> {
    const { clients, aws } = this.deployment;
    const session = await assumeRole(clients, container.taskRoleArn);
    const { attributes } = await this.reading('AWS::RDS::DBInstance');
    const user = `arn:aws:rds-db:${REGION}:${ACCOUNT}:dbuser:${attributes!.DbiResourceId}/chargeonce_worker`;
    if (await mayDo(clients, container.taskRoleArn, 'rds-db:connect', user)) this.#mayConnect.push(session);
    const credentials: ContainerCredentials = await containerCredentials(session);
    this.#closers.push(() => credentials.close());
    return {
      ...container.environment,
      ...credentials.environment,
      AWS_ENDPOINT_URL: aws.url,
      AWS_EC2_METADATA_DISABLED: 'true',
      PGHOST: this.rds.host,
      PGPORT: String(this.rds.port),
      PGSSLROOTCERT: this.#rootCertificate,
      STRIPE_API_BASE: this.stripe.url,
      HEALTH_HOST: '127.0.0.1',
    };
  }

  get #bundle(): string {
    return join(imageFolder(this.assembly), 'chargeonce.js');
  }

  /** Runs a container to its end. `command`: in place of its own, as `run-task` may say. */
  async run(name: string, command?: readonly string[], extra: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const container = await this.container(name);
    const environment = { ...(await this.#environment(container)), ...extra };
    return this.#process([this.#bundle, ...(command ?? container.command)], environment);
  }

  /** `chargeonce` on a machine of the account's, with the credentials of a role of its. */
  async cli(roleArn: string, args: readonly string[]): Promise<Ended> {
    const session = await assumeRole(this.deployment.clients, roleArn);
    const cli = join(__dirname, '../../dist/runtime/image/cli/chargeonce.js');
    return this.#process([cli, ...args], {
      AWS_ENDPOINT_URL: this.deployment.aws.url,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: session.accessKeyId,
      AWS_SECRET_ACCESS_KEY: session.secretAccessKey,
      AWS_SESSION_TOKEN: session.sessionToken,
    });
  }

  #process(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<Ended> {
    const child = spawn(process.execPath, args, { cwd: this.deployment.aws.folder, env: environment });
    const said = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => {
      said.out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      said.err += chunk.toString();
    });
    child.stdin.end();
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, ...said }));
    });
  }

  /** Starts `consume`: as the worker's container does, or as another one would if somebody asked it to. */
  async startWorker(name = 'worker', extra: Readonly<Record<string, string>> = {}): Promise<Worker> {
    const container = await this.container(name);
    const environment = await this.#environment(container);
    const logFolder = join(this.deployment.aws.folder, 'logs');
    const options = { bundle: this.#bundle, command: ['consume'], environment, logFolder };
    const worker = await Worker.start(`${name}-${this.#workers.length + 1}`, options, extra);
    this.#workers.push(worker);
    return worker;
  }

  /** What each worker has written. */
  logs(): string[] {
    const folder = join(this.deployment.aws.folder, 'logs');
    return readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  }

  async close(): Promise<void> {
    for (const worker of this.#workers) if (worker.exit === undefined) worker.kill();
    await Promise.all(this.#workers.map((worker) => worker.exited));
    for (const close of this.#closers.reverse()) await close();
  }
}
