/** What stands in for a subscription's own things until they are set: enough for a preview, nothing that exists. */
const resourceGroupName = 'rg-billing';
const subscription = '/subscriptions/00000000-0000-4000-8000-000000000000';

export const placeholders = {
  resourceGroupName,
  image: `contoso.azurecr.io/chargeonce@sha256:${'0'.repeat(64)}`,
  stripeKeySecretUri: 'https://kv-billing.vault.azure.net/secrets/stripe-rk',
  keyVaultId: `${subscription}/resourceGroups/${resourceGroupName}/providers/Microsoft.KeyVault/vaults/kv-billing`,
  meteringPrincipalId: '00000000-0000-4000-8000-000000000001',
  alertEmails: ['billing-oncall@contoso.com'],
} as const;
