/** The `Stripe-Signature` header: who sent this body, and when. */
import { createHmac, randomBytes } from 'node:crypto';

/**
 * `t=<seconds>,v1=<hex>…,v0=<hex>`: one v1 for each secret, as while a secret is rolled. The v0 stands for nothing;
 * Stripe sends one in test mode, and a receiver must not take it for a signature.
 */
export function signatureHeader(body: string, secrets: readonly string[], seconds: number): string {
  const sign = (secret: string) => createHmac('sha256', secret).update(`${seconds}.${body}`, 'utf8').digest('hex');
  const signatures = secrets.map((secret) => `v1=${sign(secret)}`);
  return [`t=${seconds}`, ...signatures, `v0=${randomBytes(32).toString('hex')}`].join(',');
}
