import { createRequire } from 'node:module';

/** Peers are optional, since users of another cloud need none of them; so npm does not ask for them. */
for (const peer of ['aws-cdk-lib', 'constructs']) {
  try {
    createRequire(__filename).resolve(peer);
  } catch (cause) {
    throw new Error(`chargeonce/aws needs ${peer}. Install it: npm install aws-cdk-lib constructs`, { cause });
  }
}
