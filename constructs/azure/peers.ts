import { createRequire } from 'node:module';

/** Peers are optional, since users of another cloud need none of them; so npm does not ask for them. */
for (const peer of ['@pulumi/pulumi', '@pulumi/azure-native']) {
  try {
    createRequire(__filename).resolve(`${peer}/package.json`);
  } catch (cause) {
    throw new Error(`chargeonce/azure needs ${peer}. Install it: npm install @pulumi/pulumi @pulumi/azure-native`, {
      cause,
    });
  }
}
