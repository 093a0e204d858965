/** One Service Bus queue and its dead letters: what is active, locked, deferred or scheduled, and until when. */
import { randomBytes } from 'node:crypto';
import { Duplicates } from './duplicates';
import type { AmqpMessage } from './event-log';
import {
  type DeadLetterReason,
  type Entry,
  type Lock,
  type QueueMessage,
  scheduledAt,
  sessionOf,
  withProperties,
} from './queue-entry';
import { type SessionHolder, Sessions } from './sessions';

export interface QueueOptions {
  /** For how long a message or a session is locked for who receives it, in milliseconds. Default: 60,000. */
  readonly lockDurationMs?: number;
  /** A message that was delivered so often without success becomes a dead letter. Default: 10. */
  readonly maxDeliveryCount?: number;
  /** A message id that comes again within so many milliseconds is accepted and dropped. Default: no detection. */
  readonly duplicateDetectionWindowMs?: number;
  /** Each message has a session id, and a session has one receiver at a time. Default: false. */
  readonly requiresSession?: boolean;
  /** Messages live for so many milliseconds at most. Default: for ever, or as the message itself says. */
  readonly defaultMessageTimeToLiveMs?: number;
  /** Whether a message that has expired becomes a dead letter; it is dropped otherwise. Default: false. */
  readonly deadLetteringOnMessageExpiration?: boolean;
}

export class Queue {
  readonly requiresSession: boolean;
  readonly lockMs: number;
  readonly sessions: Sessions;
  /** Its dead letters, `<queue>/$DeadLetterQueue`; undefined for a queue that is one. */
  readonly deadLetters: Queue | undefined;
  /** By sequence number, oldest first. */
  private readonly entries = new Map<number, Entry>();
  /** Those that time changes: locked, scheduled, or with an end. */
  private readonly timed = new Set<Entry>();
  private readonly locked = new Map<string, Entry>();
  private readonly duplicates: Duplicates;
  private readonly listeners = new Set<() => void>();
  private last = 0;
  private timer: NodeJS.Timeout | undefined;

  /** @throws when the name or an option has a value that is not allowed */
  constructor(
    readonly name: string,
    private readonly options: QueueOptions,
    private readonly now: () => number,
    isDeadLetters = false,
  ) {
    if (!isDeadLetters) check(name, options);
    this.lockMs = options.lockDurationMs ?? 60_000;
    this.requiresSession = options.requiresSession ?? false;
    this.sessions = new Sessions(this.lockMs, now);
    this.duplicates = new Duplicates(options.duplicateDetectionWindowMs, now);
    if (isDeadLetters) return;
    const { lockDurationMs } = options;
    const kept = { maxDeliveryCount: Number.POSITIVE_INFINITY, ...(lockDurationMs ? { lockDurationMs } : {}) };
    this.deadLetters = new Queue(`${name}/$DeadLetterQueue`, kept, now, true);
  }

  /** All that is in it, oldest first; scheduled and deferred messages too. */
  get messages(): readonly QueueMessage[] {
    this.tidy();
    return [...this.entries.values()];
  }

  /** Puts a message in; answers its sequence number, or undefined for a duplicate. */
  enqueue(message: AmqpMessage, deadLetterSource?: string): number | undefined {
    // The service gives an id to a message that has none, and clients rely on it.
    const id = message.message_id ?? randomBytes(16).toString('hex');
    if (this.duplicates.has(String(id))) return undefined;
    const now = this.now();
    const due = scheduledAt(message);
    const enqueuedAt = Math.max(now, due);
    const lifetime = Math.min(
      Number(message.ttl ?? Number.POSITIVE_INFINITY),
      this.options.defaultMessageTimeToLiveMs ?? Number.POSITIVE_INFINITY,
    );
    this.last += 1;
    const entry: Entry = {
      sequenceNumber: this.last,
      message: { ...message, message_id: id },
      enqueuedAt,
      deliveryCount: 0,
      state: due > now ? 'scheduled' : 'active',
      lockedUntil: undefined,
      token: undefined,
      sessionId: sessionOf(message),
      expiresAt: Number.isFinite(lifetime) ? enqueuedAt + lifetime : undefined,
      deadLetterSource,
    };
    this.entries.set(this.last, entry);
    if (entry.state === 'scheduled' || entry.expiresAt !== undefined) this.timed.add(entry);
    this.changed();
    return this.last;
  }

  /** Takes scheduled messages out again; answers whether all of them were there. */
  cancel(sequenceNumbers: readonly number[]): boolean {
    this.tidy();
    const found = sequenceNumbers.map((each) => this.entries.get(each)).filter((entry) => entry?.state === 'scheduled');
    for (const entry of found) this.remove(entry!);
    return found.length === sequenceNumbers.length;
  }

  /** The next active message, of the session when there is one; taken out, or locked when there is a token. */
  take(session: string | undefined, token: string | undefined): Entry | undefined {
    this.tidy();
    for (const entry of this.entries.values()) {
      if (entry.state !== 'active' || (session !== undefined && entry.sessionId !== session)) continue;
      if (token === undefined) this.remove(entry);
      else this.lock(entry, token);
      return entry;
    }
    return undefined;
  }

  /** Deferred messages by their numbers, locked; undefined when one of them is not there. */
  takeDeferred(sequenceNumbers: readonly number[], tokenOf: () => string): Entry[] | undefined {
    this.tidy();
    const found = sequenceNumbers.map((each) => this.entries.get(each)).filter((entry) => entry?.state === 'deferred');
    if (found.length !== sequenceNumbers.length) return undefined;
    for (const entry of found) this.lock(entry!, tokenOf());
    return found as Entry[];
  }

  peek(from: number, count: number, session?: string): readonly QueueMessage[] {
    return this.messages
      .filter((each) => each.sequenceNumber >= from && (session === undefined || each.sessionId === session))
      .slice(0, count);
  }

  /** Answers false when the lock is lost; so do the other settlements. */
  complete(token: string): boolean {
    return this.settle(token, (entry) => this.remove(entry));
  }

  abandon(token: string, properties?: Readonly<Record<string, unknown>>): boolean {
    return this.settle(token, (entry) => {
      entry.message = withProperties(entry.message, properties);
      this.unlock(entry, true);
    });
  }

  defer(token: string, properties?: Readonly<Record<string, unknown>>): boolean {
    return this.settle(token, (entry) => {
      entry.message = withProperties(entry.message, properties);
      entry.state = 'deferred';
    });
  }

  deadLetter(token: string, why: DeadLetterReason): boolean {
    // There is no place behind the dead letters.
    return this.settle(token, (entry) => (this.deadLetters ? this.bury(entry, why) : this.unlock(entry, true)));
  }

  /** Locks it for as long again; undefined when the lock is lost. */
  renew(token: string): Lock | undefined {
    const entry = this.lockedBy(token);
    if (entry === undefined) return undefined;
    entry.lockedUntil = this.now() + this.lockMs;
    this.changed();
    return { token, until: entry.lockedUntil };
  }

  /** Ids of the sessions that have active messages, in the order of their oldest ones. */
  waitingSessions(): readonly string[] {
    const ids = this.messages.filter(({ state }) => state === 'active').map(({ sessionId }) => sessionId);
    return [...new Set(ids.filter((id) => id !== undefined))];
  }

  accept(session: string, holder: SessionHolder): void {
    this.sessions.accept(session, holder);
    this.changed();
  }

  /** Its receiver is gone: what it had locked is there for the next, and counts as no delivery. */
  release(session: string, holder: SessionHolder): void {
    if (this.sessions.release(session, holder)) this.unlockAll(session, false);
    this.changed();
  }

  /** Every lock is lost now, as if its time were over. */
  expireLocks(): void {
    for (const entry of [...this.locked.values()]) this.unlock(entry, true);
    this.changed();
  }

  /** Is called whenever there may be something to receive; answers how to end that. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  close(): void {
    clearTimeout(this.timer);
    this.deadLetters?.close();
  }

  private lock(entry: Entry, token: string): void {
    entry.state = 'locked';
    entry.token = token;
    this.locked.set(token, entry);
    this.timed.add(entry);
    const session = this.requiresSession ? entry.sessionId : undefined;
    const sessionLock = session === undefined ? undefined : this.sessions.lockedUntil(session);
    entry.lockedUntil = sessionLock ?? this.now() + this.lockMs;
    this.wakeInTime();
  }

  private settle(token: string, act: (entry: Entry) => void): boolean {
    const entry = this.lockedBy(token);
    if (entry === undefined) return false;
    this.forgetLock(entry);
    act(entry);
    this.changed();
    return true;
  }

  private lockedBy(token: string): Entry | undefined {
    this.tidy();
    return this.locked.get(token);
  }

  private forgetLock(entry: Entry): void {
    if (entry.token !== undefined) this.locked.delete(entry.token);
    entry.token = undefined;
    entry.lockedUntil = undefined;
    if (entry.expiresAt === undefined) this.timed.delete(entry);
  }

  private remove(entry: Entry): void {
    this.forgetLock(entry);
    this.timed.delete(entry);
    this.entries.delete(entry.sequenceNumber);
  }

  private unlock(entry: Entry, counts: boolean): void {
    entry.state = 'active';
    this.forgetLock(entry);
    if (!counts) return;
    entry.deliveryCount += 1;
    const most = this.options.maxDeliveryCount ?? 10;
    if (entry.deliveryCount < most) return;
    const description = `Message could not be consumed after ${most} delivery attempts.`;
    this.bury(entry, { reason: 'MaxDeliveryCountExceeded', description });
  }

  private unlockAll(session: string, counts: boolean): void {
    for (const entry of [...this.locked.values()]) if (entry.sessionId === session) this.unlock(entry, counts);
  }

  private bury(entry: Entry, { reason, description, properties }: DeadLetterReason): void {
    this.remove(entry);
    const said = {
      ...properties,
      ...(reason === undefined ? {} : { DeadLetterReason: reason }),
      ...(description === undefined ? {} : { DeadLetterErrorDescription: description }),
    };
    // A dead letter stays until somebody takes it.
    const { ttl: _, ...message } = withProperties(entry.message, said);
    this.deadLetters?.enqueue(message, this.name);
  }

  /** What time has done since the last look: locks that ran out, messages that are due or have expired. */
  private tidy(): void {
    const now = this.now();
    for (const session of this.sessions.expire()) this.unlockAll(session, true);
    for (const entry of [...this.timed]) {
      const ownLock = !(this.requiresSession && entry.sessionId !== undefined);
      if (entry.state === 'locked' && ownLock && (entry.lockedUntil ?? 0) <= now) this.unlock(entry, true);
      if (entry.state === 'scheduled' && entry.enqueuedAt <= now) entry.state = 'active';
      if (entry.state === 'active' && entry.expiresAt !== undefined && entry.expiresAt <= now) this.expire(entry);
    }
  }

  private expire(entry: Entry): void {
    if (!this.options.deadLetteringOnMessageExpiration) {
      this.remove(entry);
      return;
    }
    this.bury(entry, { reason: 'TTLExpiredException', description: 'The message expired and was dead lettered.' });
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
    this.wakeInTime();
  }

  /** One timer for the whole queue: the next lock that runs out, the next message that is due. */
  private wakeInTime(): void {
    clearTimeout(this.timer);
    const dues = [...this.timed].flatMap((entry) => {
      if (entry.state === 'locked') return [entry.lockedUntil ?? 0];
      return entry.state === 'scheduled' ? [entry.enqueuedAt] : [];
    });
    const next = Math.min(this.sessions.nextExpiry, ...dues);
    if (!Number.isFinite(next)) return;
    const wake = () => {
      this.tidy();
      this.changed();
    };
    this.timer = setTimeout(wake, Math.max(1, next - this.now())).unref();
  }
}

const NAME = /^[a-z0-9]([a-z0-9._/-]{0,258}[a-z0-9])?$/i;

function check(name: string, options: QueueOptions): void {
  if (!NAME.test(name)) {
    throw new Error(
      `A queue cannot be called '${name}': 1 to 260 letters, digits, '.', '-', '_' or '/', not at the ends.`,
    );
  }
  const { lockDurationMs, maxDeliveryCount, duplicateDetectionWindowMs, defaultMessageTimeToLiveMs } = options;
  const numbers = { lockDurationMs, maxDeliveryCount, duplicateDetectionWindowMs, defaultMessageTimeToLiveMs };
  for (const [option, value] of Object.entries(numbers)) {
    if (value === undefined || (Number.isInteger(value) && value >= 1)) continue;
    throw new Error(`The queue ${name} has the ${option} ${value}; allowed: whole numbers from 1.`);
  }
}
