import type { EnforcementLevel, ResourceValidationPolicy } from '@pulumi/policy';
import { type AzureType, isAzureType } from './azure-types';

/** What a rule sees of a resource. Values that are not known yet make a preview skip the rule; the deploy has them. */
export interface Seen {
  readonly props: Readonly<Record<string, unknown>>;
  readonly urn: string;
  readonly isProtected: boolean;
}

export interface Rule {
  readonly name: string;
  readonly displayName: string;
  /** What it asks for, and why. */
  readonly description: string;
  readonly remediationSteps: string;
  readonly types: readonly AzureType[];
  /** Which resources of these types; all, when absent. */
  readonly when?: (seen: Seen) => boolean;
  /** What is wrong, in words; nothing when all is well. */
  readonly find: (seen: Seen) => readonly string[];
}

export const ENFORCEMENT: EnforcementLevel = 'mandatory';

/** The rule as Pulumi runs it. */
export function resourcePolicy({ types, when = () => true, find, ...said }: Rule): ResourceValidationPolicy {
  return {
    ...said,
    enforcementLevel: ENFORCEMENT,
    severity: 'high',
    validateResource: ({ type, props, urn, opts }, report) => {
      if (!types.some((each) => isAzureType(type, each))) return;
      const seen = { props, urn, isProtected: opts.protect };
      if (!when(seen)) return;
      for (const wrong of find(seen)) report(`${wrong} ${said.remediationSteps}`);
    },
  };
}
