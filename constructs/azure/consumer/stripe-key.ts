/** How the Stripe key reaches the worker: from Key Vault by the worker's own identity, or as a secret of the stack. */
import { createHash } from 'node:crypto';
import * as pulumi from '@pulumi/pulumi';
import { ENVIRONMENT } from '../../../runtime/contract';
import { STRIPE_KEY } from '../../../runtime/contract/stripe-key';
import { refuseWrongArgs, shown, type WrongArg } from '../shared/wrong-args';

const SECRET_URI = /^https:\/\/([a-z0-9-]+)\.vault\.[a-z0-9.-]+\/secrets\/([0-9a-z-]+)(?:\/([0-9a-f]{32}))?$/i;
const VAULT_ID =
  /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/Microsoft\.KeyVault\/vaults\/([a-z0-9-]+)$/i;

export interface StripeKeyArgs {
  readonly stripeKeySecretUri?: pulumi.Input<string>;
  readonly keyVaultId?: pulumi.Input<string>;
  readonly stripeKey?: pulumi.Input<string>;
  readonly stripeMode?: 'test' | 'live';
  readonly environment?: Readonly<Record<string, pulumi.Input<string>>>;
}

/** Where the key is. */
export type StripeKeySource = {
  /**
   * Another one for another key: Container Apps start nothing anew when a secret changes. Absent: they do, when Key
   * Vault has a newer version of the secret.
   */
  readonly version: pulumi.Output<string> | undefined;
} & (
  | {
      readonly kind: 'key-vault';
      readonly uri: pulumi.Output<string>;
      /** The one secret, as a scope of role assignments. */
      readonly secretId: pulumi.Output<string>;
    }
  | { readonly kind: 'stack'; readonly value: pulumi.Output<string> }
);

/** What is wrong when the key is said twice or not at all, or when URI and vault do not belong together. */
export function wrongStripeKey(args: StripeKeyArgs): WrongArg | undefined {
  const { stripeKeySecretUri, keyVaultId, stripeKey } = args;
  const given = Object.entries({ stripeKeySecretUri, keyVaultId, stripeKey }).flatMap(([prop, value]) =>
    value === undefined ? [] : [prop],
  );
  const ways = ['stripeKeySecretUri and keyVaultId', 'stripeKey'];
  if (given.join() === 'stripeKeySecretUri') return missingVault(stripeKeySecretUri);
  if (!ways.includes(given.join(' and '))) {
    return {
      prop: 'stripeKey',
      received: given.length === 0 ? 'not given' : `given as ${given.join(' and ')}`,
      allowed: 'stripeKeySecretUri with keyVaultId, or stripeKey alone',
      wayOut: 'Put a restricted key (rk_…) into Key Vault; the worker’s identity is let read that one secret.',
    };
  }
  // What is known now is refused now; what is an output, as soon as it is known.
  if (typeof stripeKey === 'string') return wrongKey(stripeKey, args);
  if (typeof stripeKeySecretUri !== 'string' || typeof keyVaultId !== 'string') return undefined;
  return wrongSecret(stripeKeySecretUri, keyVaultId);
}

/** @param component,name where to say that it is, when an output turns out to be wrong */
export function stripeKeySource(component: string, name: string, args: StripeKeyArgs): StripeKeySource {
  const { stripeKeySecretUri, keyVaultId, stripeKey } = args;
  if (stripeKeySecretUri === undefined || keyVaultId === undefined) {
    const value = pulumi.secret(stripeKey ?? '').apply((text) => {
      refuseWrongArgs(component, name, [wrongKey(text, args)]);
      return text;
    });
    return { kind: 'stack', value, version: pulumi.unsecret(value.apply(fingerprint)) };
  }
  const secretId = pulumi.all([stripeKeySecretUri, keyVaultId] as const).apply(([uri, vault]) => {
    refuseWrongArgs(component, name, [wrongSecret(uri, vault)]);
    return `${vault}/secrets/${SECRET_URI.exec(uri)?.[2]}`;
  });
  const uri = pulumi.output(stripeKeySecretUri);
  return { kind: 'key-vault', uri, secretId, version: versionOf(stripeKeySecretUri) };
}

/** What the worker would refuse at its start. Never says the key. A key in Key Vault is seen by the worker only. */
export function wrongKey(
  key: string,
  { stripeMode: mode = 'test', environment = {} }: Pick<StripeKeyArgs, 'stripeMode' | 'environment'>,
): WrongArg | undefined {
  const [, kind, keyMode] = STRIPE_KEY.exec(key) ?? [];
  if (kind === undefined) {
    return {
      prop: 'stripeKey',
      received: key === '' ? 'an empty text' : 'a text that is no secret key of Stripe',
      allowed: `rk_${mode}_ and at least three letters or digits`,
      wayOut: 'Copy the restricted key as Stripe shows it; a publishable key (pk_) cannot charge.',
    };
  }
  if (keyMode !== mode) {
    return {
      prop: 'stripeKey',
      received: `a ${keyMode} key`,
      allowed: `a ${mode} key, because stripeMode is ${mode}`,
      wayOut: `Give the ${mode} key, or say stripeMode: '${keyMode}' if that is meant.`,
    };
  }
  const accepted = environment[ENVIRONMENT.ALLOW_UNRESTRICTED_STRIPE_KEY];
  if (kind === 'rk' || mode === 'test' || accepted === 'true' || pulumi.Output.isInstance(accepted)) return undefined;
  return {
    prop: 'stripeKey',
    received: 'an unrestricted live key',
    allowed: 'rk_live_…: a restricted key can charge and nothing else',
    wayOut: `Make a restricted key, or accept the risk with environment: { ${ENVIRONMENT.ALLOW_UNRESTRICTED_STRIPE_KEY}: 'true' }.`,
  };
}

function versionOf(uri: pulumi.Input<string>): pulumi.Output<string> | undefined {
  const version = (text: string) => SECRET_URI.exec(text)?.[3];
  if (typeof uri !== 'string') return pulumi.output(uri).apply((text) => version(text) ?? 'newest');
  const said = version(uri);
  return said === undefined ? undefined : pulumi.output(said);
}

/** Tells two keys apart, and nothing else of them: keys are long and random, this is short. */
function fingerprint(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8);
}

function missingVault(uri: StripeKeyArgs['stripeKeySecretUri']): WrongArg {
  const vault = (typeof uri === 'string' ? SECRET_URI.exec(uri)?.[1] : undefined) ?? '<vault>';
  const wayOut = `az keyvault show --name ${vault} --query id --output tsv prints it.`;
  return { prop: 'keyVaultId', received: 'not given beside stripeKeySecretUri', allowed: vaultShape(vault), wayOut };
}

function vaultShape(vault: string): string {
  return `the vault’s resource id, /subscriptions/<id>/resourceGroups/<group>/providers/Microsoft.KeyVault/vaults/${vault}`;
}

function wrongSecret(uri: string, keyVaultId: string): WrongArg | undefined {
  const [, vault] = SECRET_URI.exec(uri) ?? [];
  if (vault === undefined) {
    return {
      prop: 'stripeKeySecretUri',
      received: shown(uri),
      allowed: 'https://<vault>.vault.azure.net/secrets/<name>, with or without a version',
      wayOut: 'Without a version, a new version of the secret reaches the workers by itself, within half an hour.',
    };
  }
  const [, named] = VAULT_ID.exec(keyVaultId) ?? [];
  if (named?.toLowerCase() === vault.toLowerCase()) return undefined;
  return {
    prop: 'keyVaultId',
    received: shown(keyVaultId),
    allowed: `${vaultShape(vault)}: the vault ${vault}, which stripeKeySecretUri names`,
    wayOut: `az keyvault show --name ${vault} --query id --output tsv prints it.`,
  };
}
