import { loadPeers } from './load-peers';

/** Loaded only by those who log in with an identity. */
const FOR_IDENTITIES = '@azure/identity';

loadPeers(
  'chargeonce/runtime/event-hubs',
  {
    '@azure/event-hubs': () => require('@azure/event-hubs'),
    '@azure/storage-blob': () => require('@azure/storage-blob'),
  },
  [FOR_IDENTITIES],
);
