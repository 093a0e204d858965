/** Container Apps: an environment, the apps and jobs in it. */
import type { Props } from '../../grpc';
import type { AzureType, AzureTypes } from '../azure-type';
import type { Cloud } from '../cloud';
import { at, between, list, matches, together } from '../rules';
import { text } from '../values';

const CLIENT = '@azure/arm-appcontainers';
const SECRETS_USER = '4633458b-17de-408a-b874-0445c86b69e6';
const ACR_PULL = '7f951dda-4ed3-4680-a7ca-43fe172d538d';
const NAME = /^(?!.*--)[a-z][a-z0-9-]{0,30}[a-z0-9]$/;
const NAME_SAYS = '2 to 32 lower-case letters, digits and single hyphens';

const APP_OR_JOB: Pick<AzureType, 'regional' | 'replacedOn' | 'writeOnly' | 'refusal'> = {
  regional: true,
  replacedOn: ['location', 'managedEnvironmentId', 'environmentId'],
  writeOnly: ['configuration.secrets[].value'],
  refusal: (props, cloud) => secretRefusal(props, cloud) ?? registryRefusal(props, cloud),
};

const SHARED_RULES = [together('template', memoryOfCpu), together('configuration', unassigned)];

export const COMPUTE: AzureTypes = {
  'azure-native:app:ManagedEnvironment': {
    arm: 'Microsoft.App/managedEnvironments',
    names: ['environmentName'],
    regional: true,
    replacedOn: ['location'],
    createOnly: ['vnetConfiguration', 'zoneRedundant'],
    writeOnly: ['appLogsConfiguration.logAnalyticsConfiguration.sharedKey'],
    body: { client: CLIENT, mapper: 'ManagedEnvironment' },
    rules: [matches('environmentName', /^[a-z0-9-]{2,60}$/, '2 to 60 lower-case letters, digits and hyphens')],
    outputs: () => ({ defaultDomain: 'example.westeurope.azurecontainerapps.io', provisioningState: 'Succeeded' }),
    refusal(props, cloud) {
      const id = at(props, 'vnetConfiguration.infrastructureSubnetId');
      const subnet = typeof id === 'string' ? cloud.get(id) : undefined;
      const delegated =
        subnet === undefined || JSON.stringify(subnet.inputs.delegations ?? []).includes('Microsoft.App/environments');
      return delegated ? undefined : `The subnet ${text(id)} is not delegated to Microsoft.App/environments.`;
    },
  },
  'azure-native:app:ContainerApp': {
    ...APP_OR_JOB,
    arm: 'Microsoft.App/containerApps',
    names: ['containerAppName'],
    body: { client: CLIENT, mapper: 'ContainerApp' },
    rules: [
      ...SHARED_RULES,
      matches('containerAppName', NAME, NAME_SAYS),
      between('template.terminationGracePeriodSeconds', 0, 600),
      between('template.scale.minReplicas', 0, 1_000),
      between('template.scale.maxReplicas', 1, 1_000),
      together('template.scale', (props) => {
        const [least, most] = ['minReplicas', 'maxReplicas'].map((name) =>
          Number(at(props, `template.scale.${name}`) ?? 10),
        );
        return least !== undefined && most !== undefined && least > most
          ? 'minReplicas is above maxReplicas'
          : undefined;
      }),
    ],
    outputs: (props) => ({ latestRevisionName: `${text(props.containerAppName)}--1`, provisioningState: 'Succeeded' }),
  },
  'azure-native:app:Job': {
    ...APP_OR_JOB,
    arm: 'Microsoft.App/jobs',
    names: ['jobName'],
    body: { client: CLIENT, mapper: 'Job' },
    rules: [...SHARED_RULES, matches('jobName', NAME, NAME_SAYS)],
  },
};

/** The Consumption profile gives 2 GiB with each core. */
function memoryOfCpu(props: Readonly<Props>): string | undefined {
  for (const container of [...list(props, 'template.containers'), ...list(props, 'template.initContainers')]) {
    const [cpu, memory] = [at(container, 'resources.cpu'), at(container, 'resources.memory')];
    if (typeof cpu !== 'number' || typeof memory !== 'string') continue;
    if (Number.parseFloat(memory) !== cpu * 2)
      return `${text(container.name)} has ${cpu} cores and ${memory}; 2Gi belong to a core`;
  }
  return undefined;
}

/** Secrets and registries name an identity, which the app must have. */
function unassigned(props: Readonly<Props>): string | undefined {
  const has = at(props, 'identity.userAssignedIdentities');
  if (!Array.isArray(has)) return undefined;
  const users = [...list(props, 'configuration.secrets'), ...list(props, 'configuration.registries')];
  const stranger = users
    .map(({ identity }) => identity)
    .find((id) => id !== undefined && id !== 'system' && !has.includes(id));
  return stranger === undefined ? undefined : `the identity ${text(stranger)} is not assigned to it`;
}

/** Azure reads the secrets of a new revision at once, as the identity that they name. */
function secretRefusal(props: Readonly<Props>, cloud: Cloud): string | undefined {
  for (const secret of list(props, 'configuration.secrets')) {
    if (secret.keyVaultUrl === undefined || holds(cloud, secret.identity, SECRETS_USER)) continue;
    return `Unable to get the value of secret ${text(secret.name)} as ${text(secret.identity)}: it may not read the vault.`;
  }
  return undefined;
}

function registryRefusal(props: Readonly<Props>, cloud: Cloud): string | undefined {
  for (const registry of list(props, 'configuration.registries')) {
    if (registry.identity === undefined || holds(cloud, registry.identity, ACR_PULL)) continue;
    return `UNAUTHORIZED: ${text(registry.identity)} may not pull from ${text(registry.server)}.`;
  }
  return undefined;
}

function holds(cloud: Cloud, identityId: unknown, role: string): boolean {
  const principalId = cloud.get(text(identityId as string))?.outputs.principalId;
  return cloud
    .ofType('azure-native:authorization:RoleAssignment')
    .some(({ inputs }) => inputs.principalId === principalId && text(inputs.roleDefinitionId).endsWith(role));
}
