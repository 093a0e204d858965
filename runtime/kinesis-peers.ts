/** Peers are optional, since users of another source need none of them; so npm does not ask for them. */
const PEERS: Readonly<Record<string, () => unknown>> = {
  // Loaded as they stand, not looked up by name: so that a bundler sees them and puts them in.
  '@aws-sdk/client-kinesis': () => require('@aws-sdk/client-kinesis'),
  '@aws-sdk/client-dynamodb': () => require('@aws-sdk/client-dynamodb'),
  '@smithy/node-http-handler': () => require('@smithy/node-http-handler'),
};

for (const [peer, load] of Object.entries(PEERS)) {
  try {
    load();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    // One that is there and lacks a package of its own speaks for itself.
    if (code !== 'MODULE_NOT_FOUND' || !message.includes(`'${peer}'`)) throw cause;
    const all = Object.keys(PEERS).join(' ');
    throw new Error(`chargeonce/runtime/kinesis needs ${peer}. Install it: npm install ${all}`, { cause });
  }
}
