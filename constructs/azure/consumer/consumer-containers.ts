import * as app from '@pulumi/azure-native/app';
import type * as inputs from '@pulumi/azure-native/types/input';
import type * as pulumi from '@pulumi/pulumi';
import { HEALTH_PORT, type Settings, STRIPE_KEY_VARIABLE, variables } from './consumer-environment';

/** The migration reads a few files and talks to the ledger. */
const MIGRATE_SIZE = { cpu: 0.25, memory: '0.5Gi' };

export interface Size {
  readonly cpu: number;
  readonly memory: string;
}

/** Reads the hub and charges. */
export function workerContainer(image: string, size: Size, settings: Settings): inputs.app.ContainerArgs {
  return {
    name: 'worker',
    image,
    args: ['consume'],
    env: [...variables(settings), STRIPE_KEY_VARIABLE],
    resources: { ...size },
    probes: [
      // Unhealthy until first ready, so that a bad deploy leaves the old revision. Longer than the ten minutes that a worker
      // waits for its roles to take effect.
      probe(app.Type.Startup, '/healthz', { initialDelaySeconds: 5, periodSeconds: 65, failureThreshold: 10 }),
      // Then alive, whatever its neighbours do: an outage of ledger, storage or Stripe must not kill workers.
      probe(app.Type.Liveness, '/healthz', { initialDelaySeconds: 1, periodSeconds: 30, failureThreshold: 3 }),
      probe(app.Type.Readiness, '/readyz', { initialDelaySeconds: 1, periodSeconds: 10, failureThreshold: 3 }),
    ],
  };
}

/** Brings the schema up to date, under a lock, and makes the workers' role: a no-op when all of it is there. */
export function migrateContainer(
  image: string,
  settings: Settings,
  worker: { readonly name: pulumi.Input<string>; readonly principalId: pulumi.Input<string> },
): inputs.app.ContainerArgs & inputs.app.InitContainerArgs {
  const role = ['--worker-role', worker.name, '--worker-auth', 'entra', '--worker-principal', worker.principalId];
  return {
    name: 'migrate',
    image,
    args: ['migrate', '--apply', ...role],
    env: variables(settings),
    resources: MIGRATE_SIZE,
  };
}

/** Any verb, for people on call. */
export function opsContainer(image: string, size: Size, settings: Settings): inputs.app.ContainerArgs {
  return {
    name: 'ops',
    image,
    args: ['--help'],
    env: [...variables(settings), STRIPE_KEY_VARIABLE],
    resources: { ...size },
  };
}

type Timing = Pick<inputs.app.ContainerAppProbeArgs, 'initialDelaySeconds' | 'periodSeconds' | 'failureThreshold'>;

function probe(type: string, path: string, timing: Timing): inputs.app.ContainerAppProbeArgs {
  return { type, httpGet: { path, port: HEALTH_PORT, scheme: app.Scheme.HTTP }, timeoutSeconds: 10, ...timing };
}
