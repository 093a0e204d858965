/** A receiver's link to a queue: peek-lock or receive-and-delete, with or without a session. */
import { randomBytes } from 'node:crypto';
import type { Delivery, Sender } from 'rhea';
import type { LinkError } from './event-hub';
import type { AmqpFaults, Place } from './faults';
import { Flow } from './flow';
import type { OutcomeName, Outlet } from './links';
import { tokenOf } from './lock-token';
import type { Queue } from './queue';
import { annotated } from './queue-message';
import { rhea } from './rhea';
import { Room } from './room';
import type { SessionHolder } from './sessions';

/** `snd-settle-mode` settled: a message is gone when it is sent. */
const RECEIVE_AND_DELETE = 1;
const LOCK_LOST: LinkError = {
  condition: 'com.microsoft:message-lock-lost',
  description: 'The lock supplied is invalid. Either the lock expired, or the message has already been removed.',
};
const SESSION_LOST: LinkError = {
  condition: 'com.microsoft:session-lock-lost',
  description: 'The session lock has expired on the MessageSession. Accept a new MessageSession.',
};

export interface QueueLinkOptions {
  readonly queue: Queue;
  readonly sender: Sender;
  readonly faults: AmqpFaults;
  /** Undefined: the queue has none. */
  readonly session: string | undefined;
  /** Cuts the connection without a word. */
  cut(): void;
}

/** The outcome of a delivery as the library decodes it. */
interface Outcome {
  readonly error?: { readonly info?: Record<string, unknown> };
  readonly undeliverable_here?: boolean;
  readonly message_annotations?: Record<string, unknown>;
  described(): unknown;
}

export class QueueLink implements Outlet, SessionHolder {
  readonly place: Place;
  private readonly room: Room;
  private readonly flow: Flow;
  private readonly tokens = new Map<number, string>();
  private readonly unlisten: () => void;

  constructor(private readonly options: QueueLinkOptions) {
    const { queue, sender, session, faults } = options;
    this.place = { entity: queue.name };
    this.room = new Room(sender);
    this.flow = new Flow({ room: this.room, place: this.place, faults, sendNext: () => this.sendNext() });
    this.unlisten = queue.listen(() => this.pump());
    if (session !== undefined) queue.accept(session, this);
  }

  pump(): void {
    this.flow.pump();
  }

  drain(): void {
    this.flow.drain();
  }

  stall(): void {
    this.flow.stall();
  }

  lost(): void {
    this.end(SESSION_LOST);
  }

  closed(): void {
    this.flow.stop();
    this.unlisten();
    const { queue, session } = this.options;
    if (session !== undefined) queue.release(session, this);
  }

  end(error: LinkError): void {
    this.closed();
    if (this.options.sender.is_open()) this.options.sender.close(error);
  }

  /** The client waits for the answer: a settled disposition with the outcome that was applied. */
  settle(delivery: Delivery, outcome: OutcomeName): void {
    const token = this.tokens.get(delivery.id);
    if (token === undefined || this.flow.isSilent) return;
    this.tokens.delete(delivery.id);
    const { faults, cut } = this.options;
    const said = delivery.remote_state as unknown as Outcome;
    const applied = this.apply(token, outcome, said);
    if (faults.takeSettlement(this.place)) {
      cut();
      return;
    }
    const state = applied ? accepted(outcome, said) : rejected(LOCK_LOST);
    delivery.update(true, state as never);
    // The library frees the slot of the session only when the other side has settled too.
    (delivery as { remote_settled: boolean }).remote_settled = true;
  }

  private apply(token: string, outcome: OutcomeName, said: Outcome): boolean {
    const { queue } = this.options;
    if (outcome === 'rejected') {
      const { DeadLetterReason: reason, DeadLetterErrorDescription: description, ...properties } = infoOf(said);
      return queue.deadLetter(token, { reason: textOf(reason), description: textOf(description), properties });
    }
    if (outcome === 'modified') {
      const { undeliverable_here: defer, message_annotations: properties } = said;
      return defer ? queue.defer(token, properties) : queue.abandon(token, properties);
    }
    return outcome === 'released' ? queue.abandon(token) : queue.complete(token);
  }

  /** Answers whether there was one. */
  private sendNext(): boolean {
    const { queue, sender, session } = this.options;
    const deletes = sender.snd_settle_mode === RECEIVE_AND_DELETE;
    const tag = randomBytes(16);
    const token = tokenOf(tag);
    const entry = queue.take(session, deletes ? undefined : token);
    if (entry === undefined) return false;
    this.room.use();
    const delivery = sender.send(annotated(entry) as never, tag);
    if (deletes) delivery.update(true);
    else this.tokens.set(delivery.id, token);
    return true;
  }
}

/** The library's typings do not name it. */
function rejected(error?: LinkError): unknown {
  const { message } = rhea() as unknown as { message: { rejected(of: object): { described(): unknown } } };
  return message.rejected(error === undefined ? {} : { error }).described();
}

/** The outcome as it was said; of a dead letter without its reason, which clients would take for an error. */
function accepted(outcome: OutcomeName, said: Outcome): unknown {
  return outcome === 'rejected' ? rejected() : said.described();
}

const infoOf = ({ error }: Outcome): Record<string, unknown> => error?.info ?? {};
const textOf = (value: unknown) => (value === undefined || value === null ? undefined : String(value));
