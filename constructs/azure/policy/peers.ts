import { createRequire } from 'node:module';

/** Peers are optional, since only who runs policies needs this one; so npm does not ask for it. */
for (const peer of ['@pulumi/policy']) {
  try {
    createRequire(__filename).resolve(`${peer}/package.json`);
  } catch (cause) {
    throw new Error(`chargeonce/azure/policy needs ${peer}. Install it: npm install @pulumi/policy @pulumi/pulumi`, {
      cause,
    });
  }
}
