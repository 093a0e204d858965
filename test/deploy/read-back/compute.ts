/** Reads back what runs and what it may do: ECS and IAM. */
import { DescribeClustersCommand, DescribeServicesCommand, DescribeTaskDefinitionCommand } from '@aws-sdk/client-ecs';
import {
  GetRoleCommand,
  GetRolePolicyCommand,
  ListAttachedRolePoliciesCommand,
  ListRolePoliciesCommand,
} from '@aws-sdk/client-iam';
import type { AwsClients } from '../clients';
import { type Json, only, pascalCase, type Reader, tags } from './reading';

const cluster: Reader = {
  async read({ ecs }, { physicalId }) {
    const command = new DescribeClustersCommand({ clusters: [physicalId], include: ['SETTINGS', 'TAGS'] });
    const found = only((await ecs.send(command)).clusters, physicalId);
    return {
      properties: { ClusterSettings: pascalCase(found.settings), Tags: tags(found.tags) },
      attributes: { Arn: found.clusterArn },
    };
  },
};

const taskDefinition: Reader = {
  async read({ ecs }, { physicalId }) {
    const command = new DescribeTaskDefinitionCommand({ taskDefinition: physicalId, include: ['TAGS'] });
    const { taskDefinition: found, tags: foundTags } = await ecs.send(command);
    return {
      properties: {
        ContainerDefinitions: pascalCase(found?.containerDefinitions, ['Options', 'DockerLabels']),
        Cpu: found?.cpu,
        ExecutionRoleArn: found?.executionRoleArn,
        Family: found?.family,
        Memory: found?.memory,
        NetworkMode: found?.networkMode,
        RequiresCompatibilities: found?.requiresCompatibilities,
        RuntimePlatform: pascalCase(found?.runtimePlatform),
        TaskRoleArn: found?.taskRoleArn,
        Tags: tags(foundTags),
      },
      attributes: { TaskDefinitionArn: found?.taskDefinitionArn },
    };
  },
};

const service: Reader = {
  async read({ ecs }, { physicalId, properties }) {
    const include = ['TAGS' as const];
    const command = new DescribeServicesCommand({
      cluster: String(properties.Cluster),
      services: [physicalId],
      include,
    });
    const found = only((await ecs.send(command)).services, physicalId);
    return {
      properties: {
        // Its name is the end of its ARN, and what a template's Ref is.
        Cluster: found.clusterArn?.split('/').at(-1),
        DeploymentConfiguration: pascalCase(found.deploymentConfiguration),
        DeploymentController: pascalCase(found.deploymentController),
        DesiredCount: found.desiredCount,
        EnableECSManagedTags: found.enableECSManagedTags,
        EnableExecuteCommand: found.enableExecuteCommand,
        LaunchType: found.launchType,
        NetworkConfiguration: pascalCase(found.networkConfiguration),
        PropagateTags: found.propagateTags,
        TaskDefinition: found.taskDefinition,
        Tags: tags(found.tags),
      },
      attributes: { Name: found.serviceName, ServiceArn: found.serviceArn },
    };
  },
};

const role: Reader = {
  async read(aws, { physicalId: RoleName, properties }) {
    const { Role } = await aws.iam.send(new GetRoleCommand({ RoleName }));
    const attached = await aws.iam.send(new ListAttachedRolePoliciesCommand({ RoleName }));
    const own = (properties.Policies ?? []) as readonly { readonly PolicyName: string }[];
    return {
      properties: {
        AssumeRolePolicyDocument: document(Role?.AssumeRolePolicyDocument),
        Description: Role?.Description,
        ManagedPolicyArns: attached.AttachedPolicies?.map((policy) => policy.PolicyArn),
        Policies: await Promise.all(
          own.map(async ({ PolicyName }) => ({
            PolicyName,
            PolicyDocument: await rolePolicy(aws, RoleName, PolicyName),
          })),
        ),
        Tags: tags(Role?.Tags),
      },
      attributes: { Arn: Role?.Arn, RoleId: Role?.RoleId },
    };
  },
};

/** A policy of the template is an inline policy of each role that it names. */
const policy: Reader = {
  async read(aws, { properties }) {
    const PolicyName = String(properties.PolicyName);
    const named = properties.Roles as readonly string[];
    const Roles: string[] = [];
    const documents = new Set<string>();
    for (const RoleName of named) {
      const { PolicyNames } = await aws.iam.send(new ListRolePoliciesCommand({ RoleName }));
      if (!PolicyNames?.includes(PolicyName)) continue;
      Roles.push(RoleName);
      documents.add(JSON.stringify(await rolePolicy(aws, RoleName, PolicyName)));
    }
    const PolicyDocument = JSON.parse(only([...documents], `documents of ${PolicyName}`)) as Json;
    return { properties: { PolicyName, Roles, PolicyDocument } };
  },
};

async function rolePolicy({ iam }: AwsClients, RoleName: string, PolicyName: string): Promise<Json> {
  return document((await iam.send(new GetRolePolicyCommand({ RoleName, PolicyName }))).PolicyDocument);
}

function document(encoded: string | undefined): Json {
  return JSON.parse(decodeURIComponent(encoded ?? '')) as Json;
}

export const COMPUTE_READERS: Readonly<Record<string, Reader>> = {
  'AWS::ECS::Cluster': cluster,
  'AWS::ECS::Service': service,
  'AWS::ECS::TaskDefinition': taskDefinition,
  'AWS::IAM::Policy': policy,
  'AWS::IAM::Role': role,
};
