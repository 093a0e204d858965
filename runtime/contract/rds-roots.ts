/**
 * Regions whose servers of Amazon RDS the runtime can verify by itself. In any other (those of China and GovCloud, and the
 * newest ones) PGSSLROOTCERT has to name a file with the region's roots.
 */
export const RDS_ROOT_REGIONS: readonly string[] = [
  ...['af-south-1', 'ap-east-1', 'ap-northeast-1', 'ap-northeast-2', 'ap-northeast-3', 'ap-south-1', 'ap-south-2'],
  ...['ap-southeast-1', 'ap-southeast-2', 'ap-southeast-3', 'ap-southeast-4', 'ca-central-1', 'eu-central-1'],
  ...['eu-central-2', 'eu-north-1', 'eu-south-1', 'eu-south-2', 'eu-west-1', 'eu-west-2', 'eu-west-3'],
  ...['me-central-1', 'me-south-1', 'sa-east-1', 'us-east-1', 'us-east-2', 'us-west-1', 'us-west-2'],
];
