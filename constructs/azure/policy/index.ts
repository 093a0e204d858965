import './peers';

import { type EnforcementLevel, PolicyPack, type ResourceValidationPolicy } from '@pulumi/policy';
import { ENFORCEMENT, resourcePolicy } from './resource-policy';
import { RULES } from './rules';

/**
 * The policies, each `mandatory` unless the pack's configuration says otherwise: for a pack of your own. Queues detect
 * duplicates; namespaces and checkpoint storage take no shared keys; TLS 1.2; checkpoint storage keeps no old versions;
 * stateful parts are protected; role assignments have a principal type.
 *
 * Which account is a checkpoint account, and what belongs to this package, is seen from the component above it
 * (`chargeonce:azure:CheckpointStore` in the URN): an account that is made elsewhere is not looked at.
 */
export const POLICIES: ResourceValidationPolicy[] = RULES.map(resourcePolicy);

export interface BillingPoliciesOptions {
  /** @default chargeonce-billing */
  readonly name?: string;
  /**
   * What a violation does, for every policy.
   * @default mandatory: it stops preview and deploy
   */
  readonly enforcementLevel?: EnforcementLevel;
}

/**
 * Starts the pack: the whole of a policy pack's main file, beside a `PulumiPolicy.yaml` (`runtime: nodejs`) and a
 * `package.json` with a version. Run it with `pulumi preview --policy-pack FOLDER`.
 */
export function billingPolicies({ name, enforcementLevel }: BillingPoliciesOptions = {}): PolicyPack {
  const level = enforcementLevel ?? ENFORCEMENT;
  return new PolicyPack(name ?? 'chargeonce-billing', {
    description: 'What a billing stream on Azure must not lose.',
    enforcementLevel: level,
    policies: POLICIES.map((policy) => ({ ...policy, enforcementLevel: level })),
  });
}
