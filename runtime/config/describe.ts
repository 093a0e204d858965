/** The configuration as the start-up log line shows it. */
import type { Config } from './config';
import type { EventHubsConfig } from './event-hubs';
import { redactSecrets } from './redact';

/**
 * The configuration without secrets: of the Stripe key only kind and mode remain, of a password only that there is one,
 * of a connection string what it leads to.
 */
export function describeConfig(config: Config): object {
  const { login } = config.database;
  const hidden = 'password' in login ? { ...login, password: '***' } : login;
  return {
    ...config,
    database: { ...config.database, login: hidden },
    stripe: { ...config.stripe, apiKey: redactSecrets(config.stripe.apiKey) },
    ...(config.source === 'event-hubs' ? { eventHubs: describeEventHubs(config.eventHubs) } : {}),
  };
}

function describeEventHubs({ hub, checkpoints, ...rest }: EventHubsConfig): object {
  return { ...rest, hub: withoutKeys(hub), checkpoints: withoutKeys(checkpoints) };
}

function withoutKeys<T extends object>(place: T): T {
  return 'connectionString' in place
    ? { ...place, connectionString: redactSecrets(String(place.connectionString)) }
    : place;
}
