/** The smallest real stack. Everything about it can be set with `pulumi config set`; a preview works without. */
import * as pulumi from '@pulumi/pulumi';
import { EventHubsBilling } from '../../constructs/azure';
import { placeholders } from './placeholders';

const config = new pulumi.Config();

const billing = new EventHubsBilling('usage', {
  resourceGroupName: config.get('resourceGroupName') ?? placeholders.resourceGroupName,
  image: config.get('image') ?? placeholders.image,
  stripeKeySecretUri: config.get('stripeKeySecretUri') ?? placeholders.stripeKeySecretUri,
  keyVaultId: config.get('keyVaultId') ?? placeholders.keyVaultId,
  stripeMode: 'test',
  spendCap: { perPeriod: { usd: 50_000_00 } },
  alertEmails: config.getObject<string[]>('alertEmails') ?? placeholders.alertEmails,
  eventHub: {
    partitionCount: config.getNumber('partitionCount') ?? 4,
    retentionHours: config.getNumber('retentionHours') ?? 168,
  },
  minReplicas: config.getNumber('minReplicas') ?? 2,
  protect: config.getBoolean('protect') ?? true,
});

billing.eventHub.grantPublish('metering', config.get('meteringPrincipalId') ?? placeholders.meteringPrincipalId);

export const { opsCommand, opsLogsCommand } = billing;
export const eventHubsNamespace = billing.eventHub.fullyQualifiedNamespace;
export const eventHubName = billing.eventHub.eventHub.name;
