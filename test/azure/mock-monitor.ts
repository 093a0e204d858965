import * as pulumi from '@pulumi/pulumi';
import type { RegisterResourceHookRequest, RegisterResourceRequest } from '@pulumi/pulumi/proto/resource_pb';
import type { Values } from './mock-azure';
import { MockHooks } from './mock-hooks';

/** A resource as the program registered it: what it is made of and how it is to be treated. */
export interface Registered {
  readonly name: string;
  readonly type: string;
  readonly urn: string;
  readonly inputs: Values;
  readonly parent: string;
  /** Absent when the program did not say. */
  readonly protect: boolean | undefined;
  readonly retainOnDelete: boolean | undefined;
  readonly ignoreChanges: readonly string[];
  readonly replaceOnChanges: readonly string[];
  /** URNs of all that it waits for, by options or by inputs. */
  readonly dependsOn: readonly string[];
  readonly deletedWith: string;
  /** Names of the hooks that may refuse it. */
  readonly hooks: readonly string[];
}

type Done = (error: unknown, response?: { getUrn(): string }) => void;

interface Monitor {
  registerResource(request: RegisterResourceRequest, done: Done): void;
  registerResourceHook?(request: RegisterResourceHookRequest, done: (error: unknown) => void): void;
}

/**
 * Pulumi's mocks hear of type, name and inputs alone; how a resource is to be treated, only the monitor is told. They
 * have no resource hooks either: here a program's hooks are called as the engine would, in preview and deploy alike.
 */
export function watchMonitor(resources: Registered[], deployed: Readonly<Record<string, Values>>): void {
  const monitor = pulumi.runtime.getMonitor() as unknown as Monitor;
  const hooks = new MockHooks();
  monitor.registerResourceHook = (request, done) => {
    const callback = request.getCallback();
    if (callback !== undefined && request.getOnDryRun()) hooks.register(request.getName(), callback);
    done(null);
  };
  const register = monitor.registerResource.bind(monitor);
  monitor.registerResource = (request, done) =>
    register(request, (error, response) => {
      if (error !== null || response === undefined) {
        done(error);
        return;
      }
      const resource = registered(request, response.getUrn());
      callHooks(hooks, request, resource, deployed[resource.name]).then(
        () => {
          resources.push(resource);
          done(null, response);
        },
        (refused: unknown) => done(refused),
      );
    });
}

async function callHooks(
  hooks: MockHooks,
  request: RegisterResourceRequest,
  { name, type, urn, inputs }: Registered,
  from: Values | undefined,
): Promise<void> {
  const binding = request.getHooks();
  const called = from === undefined ? binding?.getBeforeCreateList() : binding?.getBeforeUpdateList();
  const step = { name, type, urn, to: inputs, ...(from === undefined ? {} : { from }) };
  for (const hook of called ?? []) await hooks.call(hook, step);
}

function registered(request: RegisterResourceRequest, urn: string): Registered {
  const hooks = request.getHooks();
  return {
    name: request.getName(),
    type: request.getType(),
    urn,
    inputs: (request.getObject()?.toJavaScript() ?? {}) as Values,
    parent: request.getParent(),
    protect: request.hasProtect() ? request.getProtect() : undefined,
    retainOnDelete: request.hasRetainondelete() ? request.getRetainondelete() : undefined,
    ignoreChanges: request.getIgnorechangesList(),
    replaceOnChanges: request.getReplaceonchangesList(),
    dependsOn: request.getDependenciesList(),
    deletedWith: request.getDeletedwith(),
    hooks: [...new Set([...(hooks?.getBeforeCreateList() ?? []), ...(hooks?.getBeforeUpdateList() ?? [])])],
  };
}
