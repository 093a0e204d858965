/**
 * One namespace on loopback that speaks AMQP 1.0 as Event Hubs does, for Microsoft's own clients. It keeps everything in
 * memory. Start several for several namespaces.
 */
import type { AddressInfo, Server, Socket } from 'node:net';
import { type Connection, create_container, type EventContext, type Receiver, type Sender } from 'rhea';
import { cbsRoute, type PutToken } from './cbs';
import { EventHub, type EventHubOptions } from './event-hub';
import { eventHubRoute } from './event-hub-route';
import { AmqpFaults, covers, type Place } from './faults';
import { type Inlet, incomingOf, type Outlet, type Route } from './links';
import { managementRoute } from './management';

export interface AmqpBrokerOptions {
  /** Default: any free one. */
  readonly port?: number;
  /** Milliseconds since the epoch. Default: the machine's clock. */
  readonly now?: () => number;
}

export interface AmqpBroker {
  readonly port: number;
  /** For Microsoft's clients; plain TCP. */
  readonly connectionString: string;
  readonly hubs: ReadonlyMap<string, EventHub>;
  readonly faults: AmqpFaults;
  /** Tokens that clients put, in order. */
  readonly tokens: readonly PutToken[];
  /** @throws when the name is taken or the number of partitions is not allowed */
  createHub(name: string, options?: EventHubOptions): EventHub;
  /** Cuts every connection and frees the port. */
  close(): Promise<void>;
}

/** What createBatch() of the clients takes as the limit. */
const MAX_MESSAGE_BYTES = 1_048_576;

export async function startAmqpBroker(options: AmqpBrokerOptions = {}): Promise<AmqpBroker> {
  const namespace = new Namespace(options.now ?? Date.now);
  const port = await namespace.listen(options.port ?? 0);
  const { hubs, faults, tokens } = namespace;
  return {
    port,
    connectionString: `Endpoint=sb://127.0.0.1:${port};SharedAccessKeyName=local;SharedAccessKey=bG9jYWw=;UseDevelopmentEmulator=true;`,
    hubs,
    faults,
    tokens,
    createHub: (name, hub = {}) => namespace.createHub(name, hub),
    close: () => namespace.close(),
  };
}

class Namespace {
  readonly hubs = new Map<string, EventHub>();
  readonly tokens: PutToken[] = [];
  readonly faults: AmqpFaults;
  private readonly container = create_container({ id: 'chargeonce-amqp' });
  private readonly routes: readonly Route[];
  private readonly inlets = new WeakMap<Receiver, Inlet>();
  private readonly outlets = new Map<Sender, Outlet>();
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;

  constructor(private readonly now: () => number) {
    const act = { dropSockets: () => this.dropSockets(), detach: (place: Place) => this.detach(place) };
    this.faults = new AmqpFaults(now, () => this.pumpAll(), act);
    this.routes = [
      cbsRoute(this.faults, this.tokens),
      managementRoute(this.hubs),
      eventHubRoute({
        hubs: this.hubs,
        faults: this.faults,
        now,
        cut: ({ connection }) => socketOf(connection)?.destroy(),
      }),
    ];
    this.container.sasl_server_mechanisms.enable_anonymous();
    this.serve();
  }

  createHub(name: string, options: EventHubOptions): EventHub {
    if (this.hubs.has(name.toLowerCase())) throw new Error(`There is a hub ${name} already.`);
    const hub = new EventHub(name, options, this.now);
    this.hubs.set(name.toLowerCase(), hub);
    return hub;
  }

  listen(port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      // The broker itself decides what becomes of each message.
      const server = this.container.listen({
        port,
        host: '127.0.0.1',
        receiver_options: { autoaccept: false, credit_window: 100, max_message_size: MAX_MESSAGE_BYTES },
        sender_options: { autosettle: false, treat_modified_as_released: false },
      } as never) as Server;
      this.server = server;
      server.on('connection', (socket: Socket) => {
        this.sockets.add(socket);
        socket.once('close', () => this.lose(socket));
      });
      server.once('error', reject);
      server.once('listening', () => resolve((server.address() as AddressInfo).port));
    });
  }

  async close(): Promise<void> {
    const ended = new Promise<void>((resolve) => (this.server ? this.server.close(() => resolve()) : resolve()));
    this.dropSockets();
    await ended;
    for (const outlet of this.outlets.values()) outlet.closed();
    this.outlets.clear();
  }

  private serve(): void {
    const on = (name: string, act: (context: EventContext) => void) => this.container.on(name, act);
    on('receiver_open', ({ receiver }) => receiver && this.openInlet(receiver));
    on('sender_open', ({ sender }) => sender && this.openOutlet(sender));
    on('message', (context) => {
      if (context.receiver) this.inlets.get(context.receiver)?.(incomingOf(context));
    });
    on('sendable', ({ sender }) => sender && this.outlets.get(sender)?.pump());
    on('sender_draining', ({ sender }) => sender && this.outlets.get(sender)?.drain());
    on('sender_close', ({ sender }) => sender && this.forget(sender));
    on('session_close', ({ connection, session }) => {
      for (const sender of this.outlets.keys()) {
        if (sender.connection === connection && sender.session === session) this.forget(sender);
      }
    });
    // Clients that go away in the middle of a frame are everyday life here.
    for (const error of [
      'sender_error',
      'receiver_error',
      'session_error',
      'connection_error',
      'protocol_error',
      'error',
    ]) {
      on(error, () => undefined);
    }
  }

  private openInlet(link: Receiver): void {
    const address = link.target?.address ?? '';
    for (const route of this.routes) {
      const inlet = route.inlet(address, link);
      if (inlet === undefined) continue;
      this.inlets.set(link, inlet);
      return;
    }
    link.set_target({ address });
    link.close(notFound(address));
  }

  private openOutlet(link: Sender): void {
    const address = link.source?.address ?? '';
    for (const route of this.routes) {
      const outlet = route.outlet(address, link);
      if (outlet === undefined) continue;
      if (outlet === 'closed') return;
      this.outlets.set(link, outlet);
      outlet.pump();
      return;
    }
    link.set_source({ address });
    link.close(notFound(address));
  }

  private forget(sender: Sender): void {
    this.outlets.get(sender)?.closed();
    this.outlets.delete(sender);
  }

  private lose(socket: Socket): void {
    this.sockets.delete(socket);
    for (const sender of [...this.outlets.keys()]) if (socketOf(sender.connection) === socket) this.forget(sender);
  }

  private pumpAll(): void {
    for (const outlet of this.outlets.values()) outlet.pump();
  }

  private dropSockets(): number {
    const dropped = this.sockets.size;
    for (const socket of this.sockets) socket.destroy();
    return dropped;
  }

  private detach(place: Place): number {
    const error = { condition: 'amqp:link:detach-forced', description: 'The link is force detached by the service.' };
    let detached = 0;
    for (const hub of this.hubs.values()) {
      for (const link of [...hub.links]) {
        if (!covers(place, { hub: hub.name, partition: link.partition })) continue;
        link.end(error);
        detached += 1;
      }
    }
    return detached;
  }
}

/** The library's typings do not name it. */
function socketOf(connection: Connection): Socket | undefined {
  return (connection as unknown as { socket?: Socket }).socket;
}

function notFound(address: string) {
  return { condition: 'amqp:not-found', description: `The messaging entity '${address}' could not be found.` };
}
