/** Storage: an account, its blob service, the containers in it. */
import type { AzureTypes } from '../azure-type';
import { matches, oneOf } from '../rules';
import { text } from '../values';

const CLIENT = '@azure/arm-storage';

export const STORAGE: AzureTypes = {
  'azure-native:storage:StorageAccount': {
    arm: 'Microsoft.Storage/storageAccounts',
    names: ['accountName'],
    regional: true,
    replacedOn: ['location', 'isHnsEnabled'],
    body: { client: CLIENT, mapper: 'StorageAccountCreateParameters' },
    rules: [matches('accountName', /^[a-z0-9]{3,24}$/, '3 to 24 lower-case letters and digits')],
    outputs: (props) => ({
      primaryEndpoints: { blob: `https://${text(props.accountName)}.blob.core.windows.net/` },
      provisioningState: 'Succeeded',
    }),
  },
  'azure-native:storage:BlobServiceProperties': {
    arm: 'Microsoft.Storage/storageAccounts/blobServices',
    names: ['accountName', 'blobServicesName'],
    existsAlready: true,
    body: { client: CLIENT, mapper: 'BlobServiceProperties' },
    rules: [oneOf('blobServicesName', 'default')],
  },
  'azure-native:storage:BlobContainer': {
    arm: 'Microsoft.Storage/storageAccounts/blobServices/containers',
    names: ['accountName', { fixed: 'default' }, 'containerName'],
    body: { client: CLIENT, mapper: 'BlobContainer' },
    rules: [
      matches(
        'containerName',
        /^(?!.*--)[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/,
        '3 to 63 lower-case letters, digits, hyphens',
      ),
    ],
  },
};
