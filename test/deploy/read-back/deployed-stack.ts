/** A deployed stack: its template as CloudFormation keeps it, with references resolved from what the services say. */
import {
  DescribeStackResourcesCommand,
  DescribeStacksCommand,
  GetTemplateCommand,
  ListExportsCommand,
} from '@aws-sdk/client-cloudformation';
import { DescribeAvailabilityZonesCommand } from '@aws-sdk/client-ec2';
import type { AwsClients } from '../clients';
import { ACCOUNT, REGION } from '../emulator';
import type { DeployedResource, Json, JsonObject, Reader, Reading } from './reading';

interface Template {
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties?: JsonObject }>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: Json }>>;
}

const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::AccountId': ACCOUNT,
  'AWS::Partition': 'aws',
  'AWS::Region': REGION,
  'AWS::URLSuffix': 'amazonaws.com',
};

export class DeployedStack {
  readonly #readings = new Map<string, Promise<Reading>>();

  private constructor(
    readonly name: string,
    readonly template: Template,
    /** By logical id. */
    readonly physicalIds: Readonly<Record<string, string>>,
    /** As `DescribeStacks` says. */
    readonly outputs: Readonly<Record<string, string>>,
    private readonly exports: Readonly<Record<string, string>>,
    private readonly zones: readonly string[],
    private readonly aws: AwsClients,
    private readonly readers: Readonly<Record<string, Reader>>,
  ) {}

  static async find(aws: AwsClients, name: string, readers: Readonly<Record<string, Reader>>): Promise<DeployedStack> {
    const StackName = name;
    const [{ TemplateBody }, { StackResources }, { Stacks }, { Exports }, { AvailabilityZones }] = await Promise.all([
      aws.cloudFormation.send(new GetTemplateCommand({ StackName })),
      aws.cloudFormation.send(new DescribeStackResourcesCommand({ StackName })),
      aws.cloudFormation.send(new DescribeStacksCommand({ StackName })),
      aws.cloudFormation.send(new ListExportsCommand({})),
      aws.ec2.send(new DescribeAvailabilityZonesCommand({})),
    ]);
    return new DeployedStack(
      name,
      JSON.parse(TemplateBody ?? '') as Template,
      Object.fromEntries((StackResources ?? []).map((each) => [each.LogicalResourceId, each.PhysicalResourceId ?? ''])),
      Object.fromEntries((Stacks?.[0]?.Outputs ?? []).map((each) => [each.OutputKey, each.OutputValue ?? ''])),
      Object.fromEntries((Exports ?? []).map((each) => [each.Name, each.Value ?? ''])),
      (AvailabilityZones ?? []).map((zone) => zone.ZoneName ?? ''),
      aws,
      readers,
    );
  }

  /** Logical ids of a type, in the template's order. */
  ofType(type: string): string[] {
    return Object.entries(this.template.Resources)
      .filter(([, resource]) => resource.Type === type)
      .map(([id]) => id);
  }

  async resource(logicalId: string): Promise<DeployedResource> {
    const { Type, Properties = {} } = this.template.Resources[logicalId]!;
    const properties = (await this.resolve(Properties)) as JsonObject;
    return { type: Type, logicalId, physicalId: this.physicalId(logicalId), properties };
  }

  /** What its service says of a resource; asked once. */
  read(logicalId: string): Promise<Reading> {
    const known = this.#readings.get(logicalId);
    if (known) return known;
    const reading = this.resource(logicalId).then((resource) => {
      const reader = this.readers[resource.type];
      if (!reader) throw new Error(`Nobody reads back ${resource.type}`);
      return reader.read(this.aws, resource);
    });
    this.#readings.set(logicalId, reading);
    return reading;
  }

  async resolve(value: Json): Promise<Json> {
    if (Array.isArray(value)) return Promise.all(value.map((each) => this.resolve(each)));
    if (value === null || typeof value !== 'object') return value;
    const [[name, argument] = ['', null], ...rest] = Object.entries(value as JsonObject);
    if (rest.length === 0 && (name === 'Ref' || name.startsWith('Fn::'))) return this.intrinsic(name, argument);
    const resolved = Object.entries(value as JsonObject).map(async ([key, each]) => [key, await this.resolve(each)]);
    return Object.fromEntries(await Promise.all(resolved)) as JsonObject;
  }

  private async intrinsic(name: string, argument: Json): Promise<Json> {
    switch (name) {
      case 'Ref':
        return this.reference(String(argument));
      case 'Fn::GetAtt':
        return this.attribute(argument as readonly [string, string]);
      case 'Fn::Sub':
        return this.substitute(String(argument));
      case 'Fn::Join': {
        const [separator, parts] = argument as readonly [string, readonly Json[]];
        return ((await this.resolve(parts)) as readonly Json[]).join(separator);
      }
      case 'Fn::Select': {
        const [index, list] = argument as readonly [number, Json];
        return ((await this.resolve(list)) as readonly Json[])[index];
      }
      case 'Fn::Split': {
        const [separator, text] = argument as readonly [string, Json];
        return String(await this.resolve(text)).split(separator);
      }
      case 'Fn::GetAZs':
        return this.zones;
      case 'Fn::ImportValue':
        return this.known(this.exports, String(await this.resolve(argument)));
      default:
        throw new Error(`Nobody resolves ${name}`);
    }
  }

  private reference(id: string): string {
    return PSEUDO[id] ?? this.physicalId(id);
  }

  private physicalId(logicalId: string): string {
    return this.known(this.physicalIds, logicalId);
  }

  private async attribute([logicalId, name]: readonly [string, string]): Promise<string> {
    const { attributes = {} } = await this.read(logicalId);
    return this.known(attributes, name, `${logicalId}.`);
  }

  private async substitute(text: string): Promise<string> {
    const names = [...text.matchAll(/\$\{([^}]+)\}/g)].map(([, name]) => name!);
    const values = await Promise.all(
      names.map(async (name) => {
        const [id, attribute] = name.split(/\.(.*)/);
        return attribute === undefined ? this.reference(name) : this.attribute([id!, attribute]);
      }),
    );
    return names.reduce((done, name, index) => done.replaceAll(`\${${name}}`, values[index]!), text);
  }

  private known(values: Readonly<Record<string, string | undefined>>, name: string, of = ''): string {
    const value = values[name];
    if (value === undefined || value === '') throw new Error(`${this.name} has no ${of}${name}`);
    return value;
  }
}
