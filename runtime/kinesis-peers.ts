import { loadPeers } from './load-peers';

loadPeers('chargeonce/runtime/kinesis', {
  '@aws-sdk/client-kinesis': () => require('@aws-sdk/client-kinesis'),
  '@aws-sdk/client-dynamodb': () => require('@aws-sdk/client-dynamodb'),
  '@smithy/node-http-handler': () => require('@smithy/node-http-handler'),
});
