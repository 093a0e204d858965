/**
 * Who reads back what. This is the list of resource types that the stacks may have: a new type fails the tests until
 * somebody adds its reader, and a reader that nothing needs fails them too.
 */
import { COMPUTE_READERS } from './compute';
import { DATA_READERS } from './data';
import { NETWORK_READERS } from './ec2-network';
import { SECURITY_READERS } from './ec2-security';
import { MONITORING_READERS } from './monitoring';
import type { Reader } from './reading';

export const READERS: Readonly<Record<string, Reader>> = {
  ...NETWORK_READERS,
  ...SECURITY_READERS,
  ...DATA_READERS,
  ...COMPUTE_READERS,
  ...MONITORING_READERS,
};
