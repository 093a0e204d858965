/** The configuration as the start-up log line shows it. */
import type { Config } from './config';
import { redactSecrets } from './redact';

/** The configuration without secrets: of the Stripe key only kind and mode remain, of a password only that there is one. */
export function describeConfig(config: Config): object {
  const { login } = config.database;
  const hidden = 'password' in login ? { ...login, password: '***' } : login;
  return {
    ...config,
    database: { ...config.database, login: hidden },
    stripe: { ...config.stripe, apiKey: redactSecrets(config.stripe.apiKey) },
  };
}
