/** PostgreSQL flexible server: its databases, parameters and Entra administrators. */
import type { AzureTypes } from '../azure-type';
import { at, between, isGuid, matches, required, together } from '../rules';
import { text } from '../values';

const CLIENT = '@azure/arm-postgresql-flexible';

export const DATABASE: AzureTypes = {
  'azure-native:dbforpostgresql:Server': {
    arm: 'Microsoft.DBforPostgreSQL/flexibleServers',
    names: ['serverName'],
    regional: true,
    replacedOn: ['location'],
    createOnly: ['network', 'administratorLogin'],
    writeOnly: ['administratorLoginPassword'],
    body: { client: CLIENT, mapper: 'Server' },
    rules: [
      matches('serverName', /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/, '3 to 63 lower-case letters, digits, hyphens'),
      between('backup.backupRetentionDays', 7, 35),
      between('storage.storageSizeGB', 32, 32_767),
      together('administratorLogin', (props) =>
        at(props, 'authConfig.passwordAuth') === 'Disabled' && at(props, 'administratorLogin') !== undefined
          ? 'administratorLogin is set where logins by password are off'
          : undefined,
      ),
      together('network.privateDnsZoneArmResourceId', (props) => {
        const [subnet, zone] = ['delegatedSubnetResourceId', 'privateDnsZoneArmResourceId'].map(
          (name) => (props.network as Record<string, unknown> | undefined)?.[name],
        );
        return subnet !== undefined && zone === undefined ? 'a server in a subnet needs a private DNS zone' : undefined;
      }),
    ],
    outputs: (props) => ({
      fullyQualifiedDomainName: `${text(props.serverName)}.postgres.database.azure.com`,
      state: 'Ready',
    }),
    refusal(props, cloud) {
      const subnetId = at(props, 'network.delegatedSubnetResourceId');
      if (typeof subnetId !== 'string') return undefined;
      const subnet = cloud.get(subnetId);
      const delegated =
        subnet === undefined ||
        JSON.stringify(subnet.inputs.delegations).includes('Microsoft.DBforPostgreSQL/flexibleServers');
      return delegated
        ? undefined
        : `The subnet ${subnetId} is not delegated to Microsoft.DBforPostgreSQL/flexibleServers.`;
    },
  },
  'azure-native:dbforpostgresql:Database': {
    arm: 'Microsoft.DBforPostgreSQL/flexibleServers/databases',
    names: ['serverName', 'databaseName'],
    replacedOn: ['charset', 'collation'],
    body: { client: CLIENT, mapper: 'Database' },
  },
  'azure-native:dbforpostgresql:Configuration': {
    arm: 'Microsoft.DBforPostgreSQL/flexibleServers/configurations',
    names: ['serverName', 'configurationName'],
    existsAlready: true,
    body: { client: CLIENT, mapper: 'Configuration' },
    rules: [required('value', 'a parameter has a value'), required('source', 'Azure wants user-override')],
  },
  'azure-native:dbforpostgresql:AdministratorsMicrosoftEntra': {
    arm: 'Microsoft.DBforPostgreSQL/flexibleServers/administrators',
    names: ['serverName', 'objectId'],
    body: { client: CLIENT, mapper: 'AdministratorMicrosoftEntraAdd' },
    rules: [isGuid('objectId'), required('principalName', 'it is the name of the role in the database')],
  },
};
