/**
 * A namespace on loopback that speaks AMQP 1.0 as Event Hubs and Service Bus do, for Microsoft's own clients. It keeps everything in
 * memory. Start several for several namespaces.
 */
import type { PutToken, VerifyToken } from './access';
import type { EventHub, EventHubOptions } from './event-hub';
import type { AmqpFaults } from './faults';
import { Namespace } from './namespace';
import type { Queue, QueueOptions } from './queue';

export interface AmqpBrokerOptions {
  /** Of the plain listener. Default: any free one. */
  readonly port?: number;
  /**
   * A second listener with TLS, which clients with a token credential insist on: they are given the namespace's name and
   * `customEndpointAddress: broker.tlsAddress`. Default: none.
   */
  readonly tls?: {
    /** PEM. */
    readonly key: string;
    /** PEM, for the IP address 127.0.0.1. The clients' processes have to trust it, by `NODE_EXTRA_CA_CERTS` for example. */
    readonly cert: string;
    /** Default: any free one. */
    readonly port?: number;
  };
  /**
   * Whether a token is good. A bad one is answered with 401, and links to what no good token was put for are refused.
   * Default: every token is good, and none is asked for.
   */
  readonly verifyToken?: VerifyToken;
  /** Milliseconds since the epoch. Default: the machine's clock. */
  readonly now?: () => number;
}

export interface AmqpBroker {
  /** Of the plain listener. */
  readonly port: number;
  /** For Microsoft's clients; plain TCP. */
  readonly connectionString: string;
  /** For the clients' `customEndpointAddress`; undefined without `tls`. */
  readonly tlsAddress: string | undefined;
  /** By name in lower case. */
  readonly hubs: ReadonlyMap<string, EventHub>;
  /** By path in lower case; dead letters are at `<queue>/$deadletterqueue`. */
  readonly queues: ReadonlyMap<string, Queue>;
  readonly faults: AmqpFaults;
  /** Tokens that clients put, in order, good or not. */
  readonly tokens: readonly PutToken[];
  /** @throws when the name is taken, or an option has a value that is not allowed */
  createHub(name: string, options?: EventHubOptions): EventHub;
  /** @throws when the name is taken, or an option has a value that is not allowed */
  createQueue(name: string, options?: QueueOptions): Queue;
  /** Cuts every connection and frees the ports. */
  close(): Promise<void>;
}

/** @throws when `rhea` is not installed, a port is taken, or key and certificate do not fit */
export async function startAmqpBroker(options: AmqpBrokerOptions = {}): Promise<AmqpBroker> {
  const { now = Date.now, verifyToken, tls } = options;
  const namespace = new Namespace({ now, verifyToken });
  try {
    const port = await namespace.listen(options.port ?? 0);
    const tlsPort = tls === undefined ? undefined : await namespace.listen(tls.port ?? 0, tls);
    const { hubs, queues, faults, access } = namespace;
    return {
      port,
      connectionString: `Endpoint=sb://127.0.0.1:${port};SharedAccessKeyName=local;SharedAccessKey=bG9jYWw=;UseDevelopmentEmulator=true;`,
      tlsAddress: tlsPort === undefined ? undefined : `sb://127.0.0.1:${tlsPort}`,
      hubs,
      queues,
      faults,
      tokens: access.tokens,
      createHub: (name, hub = {}) => namespace.createHub(name, hub),
      createQueue: (name, queue = {}) => namespace.createQueue(name, queue),
      close: () => namespace.close(),
    };
  } catch (error) {
    await namespace.close();
    throw error;
  }
}
