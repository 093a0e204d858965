/** What each container is given: what the program says, with the addresses of the local parts in it. */
import type { AmqpBroker } from '../../../../test/emulators/amqp';
import type { StripeEmulator } from '../../../../test/emulators/stripe';
import type { Entra } from '../../../../test/support/entra';
import type { OutageRelay } from '../../outage-relay';
import type { Container } from '../parts';
import { ProgramError } from './declared';
import type { ContainerPlan, ProgramPlan } from './program';
import type { StorageDoor } from './storage-door';

/** Where the local parts are. */
export interface LocalAddresses {
  readonly entra: Entra;
  readonly broker: AmqpBroker;
  readonly storageDoor: StorageDoor;
  readonly stripe: StripeEmulator;
  readonly ledgerRelay: OutageRelay;
  /** Files with the certificates of those who sign the local parts'. */
  readonly trust: { readonly ledger: string; readonly azure: string };
}

/** Values of the key vault by the secret's name. */
const VAULT: Readonly<Record<string, string>> = { 'stripe-rk': 'rk_test_local_0123456789abcdef' };

/** A fifth of what is deployed: a silent partition is noticed while one still looks on. */
const SILENCE_MS = '12000';

export function containersOf(plan: ProgramPlan, local: LocalAddresses): { migrate: Container; worker: Container } {
  const { broker, storageDoor, stripe, trust } = local;
  const worker = given(plan, plan.worker, local);
  const { CHECKPOINT_CONTAINER_URL: url } = worker;
  if (url !== plan.container.url) {
    throw new ProgramError(
      `The worker is given the checkpoints at ${url}, the program has them at ${plan.container.url}.`,
    );
  }
  return {
    migrate: { ...plan.migrate, environment: given(plan, plan.migrate, local) },
    worker: {
      ...plan.worker,
      environment: {
        ...worker,
        // The namespace keeps its name; only where it is looked for differs.
        EVENTHUB_ENDPOINT_ADDRESS: broker.tlsAddress ?? '',
        NODE_EXTRA_CA_CERTS: trust.azure,
        EVENTHUB_SILENCE_MS: SILENCE_MS,
        CHECKPOINT_CONTAINER_URL: `${storageDoor.url}/${plan.container.name}`,
        STRIPE_API_BASE: stripe.url,
      },
    },
  };
}

/** What the container is given by the program and by the platform: its settings, its secrets, its identity. */
function given(plan: ProgramPlan, container: ContainerPlan, local: LocalAddresses): Record<string, string> {
  const { name, environment } = container;
  const identity = environment.AZURE_CLIENT_ID;
  if (!plan.identities.some(({ clientId }) => clientId === identity)) {
    throw new ProgramError(`The container ${name} runs as ${identity}, which is no identity of the program.`);
  }
  if (environment.PGHOST !== plan.database.host) {
    throw new ProgramError(
      `The container ${name} has its ledger at ${environment.PGHOST}, not at ${plan.database.host}.`,
    );
  }
  return {
    ...environment,
    ...secretsOf(plan, container),
    ...local.entra.environment(identity ?? ''),
    PGHOST: '127.0.0.1',
    PGPORT: String(local.ledgerRelay.port),
    PGSSLROOTCERT: local.trust.ledger,
  };
}

function secretsOf({ keyVaultUrls }: ProgramPlan, { secrets }: ContainerPlan): Record<string, string> {
  return Object.fromEntries(
    Object.entries(secrets).map(([variable, secret]) => {
      const url = keyVaultUrls[secret];
      const value = VAULT[url?.split('/secrets/')[1] ?? ''];
      if (value === undefined)
        throw new ProgramError(`No local secret stands for ${secret} (${url ?? 'no key vault'}).`);
      return [variable, value];
    }),
  );
}
