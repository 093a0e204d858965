/** Secrets whose own KMS key is in another's hands: what the CDK leaves out, and what would be a cycle of stacks. */
import { Stack, Token } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { wrongProp } from '../../shared/check';
import { isMadeHere } from '../made-here';

/**
 * A secret's own key in another stack would have to name the role of this one in its policy, while this stack refers
 * to that one: the CDK then speaks of a cycle between ids that nobody typed.
 *
 * @throws when the key of a secret was made in another stack of the same account and region
 */
export function checkSecretKey(scope: Construct, prop: string, secret: secrets.ISecret): void {
  const key = secret.encryptionKey;
  if (key === undefined || !isMadeHere(key)) return;
  const [here, there] = [Stack.of(scope), Stack.of(key)];
  if (here === there || here.account !== there.account || here.region !== there.region) return;
  throw wrongProp({
    path: scope.node.path,
    prop,
    received: `a secret with a key of its own, ${key.node.path}, which the stack ${there.stackName} makes`,
    allowed: `a key that ${here.stackName} makes, an imported key, or no key of its own`,
    wayOut:
      `The key’s policy would name a role of ${here.stackName}, which itself needs ${there.stackName}: a cycle. ` +
      'Import both where the consumer is: Secret.fromSecretAttributes(this, id, { secretCompleteArn: ' +
      'secret.secretArn, encryptionKey: Key.fromKeyArn(this, keyId, key.keyArn) }).',
  });
}

/**
 * ECS finds a secret by its name only where the task is.
 *
 * @throws when a secret certainly is in another account or region, and its whole ARN is not known
 */
export function checkSecretPlace(scope: Construct, prop: string, secret: secrets.ISecret): void {
  if (secret.secretFullArn !== undefined) return;
  const here = Stack.of(scope);
  for (const where of ['account', 'region'] as const) {
    const [theirs, ours] = [secret.env[where], here[where]];
    if (Token.isUnresolved(theirs) || Token.isUnresolved(ours) || theirs === ours) continue;
    throw wrongProp({
      path: scope.node.path,
      prop,
      received: `a secret of the ${where} ${theirs}, known without the six characters at the end of its ARN`,
      allowed: `a secret of the ${where} ${ours}, or one that is known by its whole ARN`,
      wayOut: 'ECS would not find it. Import it with Secret.fromSecretCompleteArn or Secret.fromSecretAttributes.',
    });
  }
}

/** Lets a role decrypt a secret whose key is imported: the CDK grants that in the key's policy only, which it cannot change. */
export function grantImportedKey(role: iam.IRole, secret: secrets.ISecret): void {
  const key = secret.encryptionKey;
  if (key === undefined || isMadeHere(key)) return;
  iam.Grant.addToPrincipal({
    grantee: role,
    actions: ['kms:Decrypt'],
    resourceArns: [key.keyArn],
    conditions: { StringLike: { 'kms:ViaService': 'secretsmanager.*' } },
  });
}
