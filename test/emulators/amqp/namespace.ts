/** What a broker is made of: sockets, links, and the routes that say what an address leads to. */
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Connection, EventContext, Receiver, Sender } from 'rhea';
import { Access, type VerifyToken } from './access';
import { CBS, cbsRoute } from './cbs';
import { EventHub, type EventHubOptions, type LinkError } from './event-hub';
import { eventHubRoute } from './event-hub-route';
import { AmqpFaults, covers, type Place } from './faults';
import { type Inlet, incomingOf, OUTCOMES, type Outlet, type Route, refuse } from './links';
import { managementRoute } from './management';
import { Queue, type QueueOptions } from './queue';
import { queueManagementRoute } from './queue-management';
import { queueRoute } from './queue-route';
import { rhea } from './rhea';
import { MAX_MESSAGE_BYTES } from './sends';

const CREDIT = 100;
const FORCED: LinkError = {
  condition: 'amqp:link:detach-forced',
  description: 'The link is force detached by the service.',
};
/** Clients that go away in the middle of a frame are everyday life here. */
const EVERYDAY = [
  'sender_error',
  'receiver_error',
  'session_error',
  'connection_error',
  'protocol_error',
  'error',
  'disconnected',
] as const;

export interface NamespaceOptions {
  readonly now: () => number;
  readonly verifyToken: VerifyToken | undefined;
}

export class Namespace {
  /** By name in lower case. */
  readonly hubs = new Map<string, EventHub>();
  /** By path in lower case, dead letters too. */
  readonly queues = new Map<string, Queue>();
  readonly faults: AmqpFaults;
  readonly access: Access;
  private readonly container = rhea().create_container({ id: 'chargeonce-amqp' });
  private readonly routes: readonly Route[];
  private readonly inlets = new WeakMap<Receiver, Inlet>();
  private readonly outlets = new Map<Sender, Outlet>();
  private readonly servers: Server[] = [];
  /** Every socket, in the middle of its handshake or behind it. */
  private readonly sockets = new Set<Socket>();

  constructor(private readonly options: NamespaceOptions) {
    const { now } = options;
    this.access = new Access(options.verifyToken);
    this.faults = new AmqpFaults(now, {
      wake: () => this.pumpAll(),
      dropSockets: () => this.dropSockets(),
      detach: (place) => this.each(place, (outlet) => outlet.end(FORCED)),
      stall: (place) => this.each(place, (outlet) => outlet.stall()),
    });
    const cut = ({ connection }: { connection: Connection }) => socketOf(connection)?.destroy();
    this.routes = [
      cbsRoute(this.faults, this.access),
      managementRoute(this.hubs),
      eventHubRoute({ hubs: this.hubs, faults: this.faults, now, cut }),
      queueManagementRoute(this.queues),
      queueRoute({ queues: this.queues, faults: this.faults, cut }),
    ];
    this.container.sasl_server_mechanisms.enable_anonymous();
    this.serve();
  }

  createHub(name: string, options: EventHubOptions): EventHub {
    this.checkFree(name);
    const hub = new EventHub(name, options, this.options.now);
    this.hubs.set(name.toLowerCase(), hub);
    return hub;
  }

  createQueue(name: string, options: QueueOptions): Queue {
    this.checkFree(name);
    const queue = new Queue(name, options, this.options.now);
    for (const each of [queue, queue.deadLetters])
      if (each !== undefined) this.queues.set(each.name.toLowerCase(), each);
    return queue;
  }

  /** Answers the port. */
  listen(port: number, tls?: { readonly key: string; readonly cert: string }): Promise<number> {
    return new Promise((resolve, reject) => {
      const server = this.container.listen({
        port,
        host: '127.0.0.1',
        tcp_no_delay: true,
        ...(tls === undefined ? {} : { transport: 'tls', key: tls.key, cert: tls.cert }),
        // The broker itself decides what becomes of each message.
        receiver_options: { autoaccept: false, credit_window: CREDIT, max_message_size: MAX_MESSAGE_BYTES },
        sender_options: { autosettle: false, treat_modified_as_released: false },
      } as never) as Server;
      this.servers.push(server);
      server.on('connection', (socket: Socket) => {
        this.sockets.add(socket);
        socket.once('close', () => this.sockets.delete(socket));
      });
      // Of clients that do not trust the certificate, for example.
      server.on('tlsClientError', () => undefined);
      server.once('error', reject);
      server.once('listening', () => resolve((server.address() as AddressInfo).port));
    });
  }

  async close(): Promise<void> {
    const ended = this.servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    this.dropSockets();
    await Promise.all(ended);
    for (const outlet of this.outlets.values()) outlet.closed();
    this.outlets.clear();
    for (const queue of this.queues.values()) queue.close();
  }

  private checkFree(name: string): void {
    const kind = this.hubs.has(name.toLowerCase()) ? 'hub' : 'queue';
    if (kind === 'hub' || this.queues.has(name.toLowerCase())) throw new Error(`There is a ${kind} ${name} already.`);
  }

  private serve(): void {
    const on = (name: string, act: (context: EventContext) => void) => this.container.on(name, act);
    on('connection_open', ({ connection }) => {
      socketOf(connection)?.once('close', () => this.forgetAll((sender) => sender.connection === connection));
    });
    on('receiver_open', ({ receiver }) => receiver && this.openInlet(receiver));
    on('sender_open', ({ sender }) => sender && this.openOutlet(sender));
    on('message', (context) => {
      if (context.receiver) this.inlets.get(context.receiver)?.(incomingOf(context));
    });
    on('sendable', ({ sender }) => sender && this.outlets.get(sender)?.pump());
    on('sender_draining', ({ sender }) => sender && this.outlets.get(sender)?.drain());
    for (const outcome of OUTCOMES) {
      on(
        outcome,
        ({ sender, delivery }) => sender && delivery && this.outlets.get(sender)?.settle?.(delivery, outcome),
      );
    }
    on('sender_close', ({ sender }) => sender && this.forget(sender));
    on('session_close', ({ connection, session }) =>
      this.forgetAll((sender) => sender.connection === connection && sender.session === session),
    );
    for (const error of EVERYDAY) on(error, () => undefined);
  }

  private openInlet(link: Receiver): void {
    const address = link.target?.address ?? '';
    if (this.isRefused(link.connection, address)) {
      link.set_target({ address });
      refuse(link, unauthorized('Send', address));
      return;
    }
    for (const route of this.routes) {
      const inlet = route.inlet(address, link);
      if (inlet === undefined) continue;
      if (inlet !== 'closed') this.inlets.set(link, inlet);
      return;
    }
    link.set_target({ address });
    refuse(link, notFound(address));
  }

  private openOutlet(link: Sender): void {
    const address = link.source?.address ?? '';
    if (this.isRefused(link.connection, address)) {
      link.set_source({ address });
      refuse(link, unauthorized('Listen', address));
      return;
    }
    for (const route of this.routes) {
      const outlet = route.outlet(address, link);
      if (outlet === undefined) continue;
      if (outlet === 'closed') return;
      this.outlets.set(link, outlet);
      outlet.pump();
      return;
    }
    link.set_source({ address });
    refuse(link, notFound(address));
  }

  private isRefused(connection: Connection, address: string): boolean {
    if (address === CBS) return false;
    return this.faults.refusesLinks || !this.access.allows(connection, address);
  }

  private forget(sender: Sender): void {
    this.outlets.get(sender)?.closed();
    this.outlets.delete(sender);
  }

  private forgetAll(which: (sender: Sender) => boolean): void {
    for (const sender of [...this.outlets.keys()]) if (which(sender)) this.forget(sender);
  }

  private pumpAll(): void {
    for (const outlet of this.outlets.values()) outlet.pump();
  }

  private dropSockets(): number {
    const dropped = this.sockets.size;
    for (const socket of this.sockets) socket.destroy();
    return dropped;
  }

  private each(place: Place, act: (outlet: Outlet) => void): number {
    const found = [...this.outlets].filter(([, outlet]) => outlet.place !== undefined && covers(place, outlet.place));
    for (const [, outlet] of found) act(outlet);
    return found.length;
  }
}

/** The library's typings do not name it. */
function socketOf(connection: Connection): Socket | undefined {
  return (connection as unknown as { socket?: Socket }).socket;
}

function notFound(address: string): LinkError {
  return { condition: 'amqp:not-found', description: `The messaging entity '${address}' could not be found.` };
}

function unauthorized(claim: string, address: string): LinkError {
  const description = `Unauthorized access. '${claim}' claim(s) are required to perform this operation. Resource: '${address}'.`;
  return { condition: 'amqp:unauthorized-access', description };
}
