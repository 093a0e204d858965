/** Peers are optional, since users of another source need none of them; so npm does not ask for them. */
const PEERS: Readonly<Record<string, () => unknown>> = {
  // Loaded as they stand, not looked up by name: so that a bundler sees them and puts them in.
  '@azure/event-hubs': () => require('@azure/event-hubs'),
  '@azure/storage-blob': () => require('@azure/storage-blob'),
};
/** Loaded only by those who log in with an identity. */
const FOR_IDENTITIES = '@azure/identity';

for (const [peer, load] of Object.entries(PEERS)) {
  try {
    load();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    // One that is there and lacks a package of its own speaks for itself.
    if (code !== 'MODULE_NOT_FOUND' || !message.includes(`'${peer}'`)) throw cause;
    const all = [...Object.keys(PEERS), FOR_IDENTITIES].join(' ');
    throw new Error(`chargeonce/runtime/event-hubs needs ${peer}. Install it: npm install ${all}`, { cause });
  }
}
