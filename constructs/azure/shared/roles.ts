/** Azure's built-in roles that the components give, by the names Azure shows, with their ids, which no tenant changes. */
export const ROLES = {
  'Azure Event Hubs Data Receiver': 'a638d3c7-ab3a-418d-83e6-5f17a39d4fde',
  'Azure Event Hubs Data Sender': '2b629674-e913-4c01-ae53-ef4638d8f975',
  'Storage Blob Data Contributor': 'ba92f5b4-2d11-453d-a403-e96b0029c9fe',
  'Storage Blob Data Reader': '2a2b9908-6ea1-4ae2-8e65-a410df84e7d1',
  'Key Vault Secrets User': '4633458b-17de-408a-b874-0445c86b69e6',
  AcrPull: '7f951dda-4ed3-4680-a7ca-43fe172d538d',
} as const;

export type RoleName = keyof typeof ROLES;

/** The role's id in the form that holds in every subscription, so that a preview shows it before anything exists. */
export function roleDefinitionId(role: RoleName): string {
  return `/providers/Microsoft.Authorization/roleDefinitions/${ROLES[role]}`;
}
