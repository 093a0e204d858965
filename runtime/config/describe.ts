/** The configuration as the start-up log line shows it. */
import type { Config } from './config';
import { redactSecrets } from './redact';

/** The configuration without secrets: of the Stripe key only kind and mode remain, of a password only that there is one. */
export function describeConfig(config: Config): object {
  const { password, ...database } = config.database;
  return {
    ...config,
    database: { ...database, ...(password === undefined ? {} : { password: '***' }) },
    stripe: { ...config.stripe, apiKey: redactSecrets(config.stripe.apiKey) },
  };
}
