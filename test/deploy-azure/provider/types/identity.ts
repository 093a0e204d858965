/** Resource groups, identities and what they may do. */
import type { AzureTypes } from '../azure-type';
import { guid, TENANT } from '../ids';
import { GUID, isGuid, matches, oneOf } from '../rules';
import { text } from '../values';

const ROLE = new RegExp(
  `^(/subscriptions/[^/]+)?/providers/Microsoft.Authorization/roleDefinitions/${GUID.source.slice(1)}`,
);

export const IDENTITY: AzureTypes = {
  'azure-native:resources:ResourceGroup': {
    arm: 'Microsoft.Resources/resourceGroups',
    names: ['resourceGroupName'],
    replacedOn: ['location'],
  },
  'azure-native:managedidentity:UserAssignedIdentity': {
    arm: 'Microsoft.ManagedIdentity/userAssignedIdentities',
    names: ['resourceName'],
    regional: true,
    replacedOn: ['location'],
    body: { client: '@azure/arm-msi', mapper: 'Identity' },
    rules: [matches('resourceName', /^[A-Za-z0-9][A-Za-z0-9_-]{2,127}$/, '3 to 128 letters, digits, - and _')],
    outputs: (_props, id) => ({
      principalId: guid(`${id} principal`),
      clientId: guid(`${id} client`),
      tenantId: TENANT,
    }),
  },
  'azure-native:authorization:RoleAssignment': {
    arm: 'Microsoft.Authorization/roleAssignments',
    names: ['roleAssignmentName'],
    extends: 'scope',
    replacedOn: ['scope', 'principalId'],
    createOnly: ['roleDefinitionId', 'principalType'],
    body: { client: '@azure/arm-authorization', mapper: 'RoleAssignmentCreateParameters' },
    rules: [
      isGuid('roleAssignmentName'),
      isGuid('principalId'),
      matches('roleDefinitionId', ROLE, 'the full id of a role definition'),
      // A new identity is not yet everywhere: only with its type is it not looked up.
      oneOf('principalType', 'ServicePrincipal'),
    ],
    refusal(props, cloud) {
      const same = ['scope', 'principalId', 'roleDefinitionId'] as const;
      const twin = cloud
        .ofType('azure-native:authorization:RoleAssignment')
        .find(
          ({ inputs }) =>
            inputs.roleAssignmentName !== props.roleAssignmentName &&
            same.every((name) => inputs[name] === props[name]),
        );
      return twin && `RoleAssignmentExists: the same assignment has the name ${text(twin.inputs.roleAssignmentName)}.`;
    },
  },
};
