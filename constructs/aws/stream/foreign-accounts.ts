import { Token } from 'aws-cdk-lib';
import type * as iam from 'aws-cdk-lib/aws-iam';

/** A principal that stands for everybody, or for everybody of an organization. */
export const ANYBODY = 'any account';

/**
 * The accounts of a grantee that are certainly not `account`: twelve digits each, or `ANYBODY`. What is only known at
 * deploy is not among them, and neither is a service.
 */
export function foreignAccounts(grantee: iam.IGrantable, account: string): string[] {
  if (Token.isUnresolved(account)) return accountsOf(grantee.grantPrincipal).filter((each) => each === ANYBODY);
  return accountsOf(grantee.grantPrincipal).filter((each) => each !== account);
}

function accountsOf(principal: iam.IPrincipal): string[] {
  const known = principal.principalAccount;
  if (known !== undefined) return Token.isUnresolved(known) ? [] : [known];
  const { principalJson } = principal.policyFragment;
  const named = [...(principalJson.AWS ?? []), ...(principalJson['*'] ?? [])];
  return named.flatMap((name) => accountOf(name) ?? []);
}

/** Of an ARN, of a bare account or of everybody. */
function accountOf(name: string): string | undefined {
  if (name === '*') return ANYBODY;
  if (Token.isUnresolved(name)) return undefined;
  return name.startsWith('arn:') ? name.split(':')[4] : name;
}
