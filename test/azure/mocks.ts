import { setImmediate } from 'node:timers/promises';
import * as pulumi from '@pulumi/pulumi';
import { azureAnswer, SUBSCRIPTION, TENANT, type Values } from './mock-azure';
import { type Registered, watchMonitor } from './mock-monitor';

export type { Registered } from './mock-monitor';

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
  /** Inputs of resources as the last deploy left them, by name: those are then updated, not created. */
  readonly deployed?: Readonly<Record<string, Values>>;
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

// Where in the program a resource was declared is of no use here, and takes longer to find out than all the rest.
Reflect.set(pulumi.Resource, 'stackTrace', () => []);

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
  watchMonitor(resources, options.deployed ?? {});
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

/**
 * What goes wrong inside an output surfaces as a rejection that nobody awaits: a real run ends with it, so does this.
 * What waits for that output would wait for ever, and what else is on its way must not reach the next run.
 */
async function untilSettled<T>(program: () => T | Promise<T>): Promise<T> {
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  const failed = new Promise<never>((_, reject) => {
    process.on('unhandledRejection', reject);
  });
  failed.catch(() => undefined);
  const settled = () => Promise.race([pulumi.runtime.disconnect(), failed]);
  const { stackTraceLimit } = Error;
  // Pulumi keeps a stack for each of thousands of promises.
  Error.stackTraceLimit = 0;
  try {
    const result = await Promise.resolve()
      .then(program)
      .catch(async (error: unknown) => {
        await settled();
        throw error;
      });
    await settled();
    // Rejections are reported after the microtasks in which they happen.
    await Promise.race([setImmediate(), failed]);
    return result;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
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
