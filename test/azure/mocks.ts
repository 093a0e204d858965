import { setImmediate } from 'node:timers/promises';
import * as pulumi from '@pulumi/pulumi';
import { azureAnswer, SUBSCRIPTION, TENANT, type Values } from './mock-azure';

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
}

export interface RunOptions {
  /**
   * What only Azure can say is then unknown, as in `pulumi preview` before the first deploy.
   * @default false
   */
  readonly preview?: boolean;
  /** @default 'billing' */
  readonly project?: string;
  /** @default 'test' */
  readonly stack?: string;
  /** Answers to the program's lookups, by token such as `azure-native:eventhub:getNamespace`. */
  readonly lookups?: Readonly<Record<string, (inputs: Values) => Values>>;
}

export interface Run<T> {
  /** What the program returned. */
  readonly result: T;
  /** Components and resources, in the order in which they were registered. */
  readonly resources: readonly Registered[];
  /** The lookups that were made, by token. */
  readonly lookups: readonly string[];
  /** The only resource of that name. @throws when there is none, or more than one */
  named(name: string): Registered;
  /** All resources of a type such as `azure-native:eventhub:EventHub`. */
  ofType(type: string): readonly Registered[];
}

/** What no program can do without. */
const LOOKUPS: NonNullable<RunOptions['lookups']> = {
  'azure-native:authorization:getClientConfig': () => ({ subscriptionId: SUBSCRIPTION, tenantId: TENANT }),
};

/**
 * Runs a program under Pulumi's mocks until everything it declares is registered: no engine, no Azure. One run at a time.
 *
 * @throws what the program threw, at once or in an output
 */
export async function runProgram<T>(program: () => T | Promise<T>, options: RunOptions = {}): Promise<Run<T>> {
  const resources: Registered[] = [];
  const lookups: string[] = [];
  const answers = { ...LOOKUPS, ...options.lookups };
  await pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs, custom }) => {
        const { id, state } = custom ? azureAnswer(type, name, inputs) : { id: undefined, state: inputs };
        return options.preview ? { id: undefined, state: inputs } : { id, state };
      },
      call: ({ token, inputs }) => {
        lookups.push(token);
        const answer = answers[token];
        if (answer === undefined) throw new Error(`The program looked up ${token}, which the test does not answer.`);
        return answer(inputs);
      },
    },
    options.project ?? 'billing',
    options.stack ?? 'test',
    options.preview ?? false,
  );
  record(resources);
  const result = await untilSettled(program);
  return {
    result,
    resources,
    lookups,
    named: (name) => only(name, resources),
    ofType: (type) => resources.filter((each) => each.type === type),
  };
}

/** The value of an output; undefined when it is unknown, as much is in a preview. */
export async function knownValue<T>(output: pulumi.Output<T>): Promise<T | undefined> {
  const inner = output as pulumi.Output<T> & { promise(): Promise<T>; readonly isKnown: Promise<boolean> };
  const value = await inner.promise();
  return (await inner.isKnown) ? value : undefined;
}

/** Every value of a record of outputs. */
export async function knownValues<T>(
  outputs: Readonly<Record<string, pulumi.Output<T>>>,
): Promise<Record<string, unknown>> {
  const entries = Object.entries(outputs).map(async ([name, output]) => [name, await knownValue(output)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

interface Request {
  toObject(): Readonly<Record<string, unknown>>;
  getObject(): { toJavaScript(): Values };
}

interface Monitor {
  registerResource(
    request: Request,
    callback: (error: unknown, response: { getUrn(): string } | undefined) => void,
  ): void;
}

/** Pulumi's mocks hear of type, name and inputs alone; how a resource is to be treated, only the monitor is told. */
function record(resources: Registered[]): void {
  const monitor = pulumi.runtime.getMonitor() as unknown as Monitor;
  const register = monitor.registerResource.bind(monitor);
  monitor.registerResource = (request, callback) =>
    register(request, (error, response) => {
      if (response !== undefined) resources.push(registered(request, response.getUrn()));
      callback(error, response);
    });
}

function registered(request: Request, urn: string): Registered {
  const said = request.toObject() as {
    name: string;
    type: string;
    parent: string;
    protect?: boolean;
    retainondelete?: boolean;
    ignorechangesList: string[];
    replaceonchangesList: string[];
    dependenciesList: string[];
    deletedwith: string;
  };
  return {
    name: said.name,
    type: said.type,
    urn,
    inputs: request.getObject().toJavaScript(),
    parent: said.parent,
    protect: said.protect,
    retainOnDelete: said.retainondelete,
    ignoreChanges: said.ignorechangesList,
    replaceOnChanges: said.replaceonchangesList,
    dependsOn: said.dependenciesList,
    deletedWith: said.deletedwith,
  };
}

/** What goes wrong inside an output surfaces as a rejection that nobody awaits: a real run ends with it, so does this. */
async function untilSettled<T>(program: () => T | Promise<T>): Promise<T> {
  const others = process.listeners('unhandledRejection');
  const failures: unknown[] = [];
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (reason) => failures.push(reason));
  try {
    const result = await program();
    await pulumi.runtime.disconnect();
    // Rejections are reported after the microtasks in which they happen.
    await setImmediate();
    if (failures.length > 0) throw failures[0];
    return result;
  } finally {
    process.removeAllListeners('unhandledRejection');
    for (const each of others) process.on('unhandledRejection', each);
  }
}

function only(name: string, resources: readonly Registered[]): Registered {
  const found = resources.filter((each) => each.name === name);
  if (found.length === 1 && found[0] !== undefined) return found[0];
  const names = resources.map((each) => each.name).join(', ');
  throw new Error(`${found.length} resources are named ${name}; there are: ${names}`);
}
