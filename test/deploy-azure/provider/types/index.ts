/** Every type of resource that the stacks use. A type that is not here fails a preview. */
import type { AzureTypes } from '../azure-type';
import { COMPUTE } from './compute';
import { DATABASE } from './database';
import { IDENTITY } from './identity';
import { MESSAGING } from './messaging';
import { MONITORING } from './monitoring';
import { NETWORK } from './network';
import { STORAGE } from './storage';

export const AZURE_TYPES: AzureTypes = {
  ...IDENTITY,
  ...MESSAGING,
  ...STORAGE,
  ...NETWORK,
  ...DATABASE,
  ...COMPUTE,
  ...MONITORING,
};
