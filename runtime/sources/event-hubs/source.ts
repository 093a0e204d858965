/**
 * Event Hubs as a source: Microsoft's event processor over a checkpoint container of our own rules, watched from outside
 * and made anew when it falls silent.
 */
import type { PartitionConsumer, Source } from '../../processor/ports';
import type { Ownership } from './blob-store';
import { type EventHubsSourceOptions, type SourceSettings, withDefaults } from './options';
import type { Reading } from './reading';
import { Session } from './session';
import { awaitAccess } from './start-up';
import { Watchdog } from './watchdog';

export type { EventHubsSourceOptions } from './options';

/** A source over one hub. Throws when an option is out of range; opens nothing before `run`. */
export function createEventHubsSource(options: EventHubsSourceOptions): Source {
  return new EventHubsSource(withDefaults(options));
}

const WATCH_MS = 10_000;
/** For the last checkpoints, for the ownership and for the connection, each. */
const LEAVE_MS = 5_000;

class EventHubsSource implements Source {
  private trouble: string | undefined = 'the event hub has not answered yet';
  /** Partitions that were silent and have not been heard since, and what was wrong. */
  private readonly silent = new Map<string, string>();
  private failure: Error | undefined;
  private owners: readonly Ownership[] = [];
  /** Monotonic: the balancing last showed that it goes round. */
  private balancedAt = 0;
  private ending = new AbortController();

  constructor(private readonly settings: SourceSettings) {}

  notReady(): string | undefined {
    const [first] = this.silent;
    return first === undefined ? this.trouble : `partition ${first[0]} ${first[1]}`;
  }

  async run(consumer: PartitionConsumer, signal: AbortSignal): Promise<void> {
    const { eventHubName, log } = this.settings;
    let access = false;
    for (;;) {
      this.ending = new AbortController();
      this.balancedAt = this.settings.host.monotonic();
      const session = new Session(this.settings, consumer, this.eventsOf(this.ending), signal);
      try {
        if (!access) await this.awaitAccess(session, signal);
        access = true;
        if (!signal.aborted) session.start();
        await this.watch(session, AbortSignal.any([signal, this.ending.signal]));
      } catch (error) {
        this.failure = error as Error;
      }
      if (signal.aborted) return this.drain(session, consumer);
      await session.abandon(this.failure === undefined ? 'silent' : 'failed', this.leaveMs);
      if (this.failure !== undefined) throw this.failure;
      // Nothing is read from here on until the next one is.
      this.trouble = 'the event hub is connected anew, and nothing is read meanwhile';
      log.warn({ hub: eventHubName }, 'connecting to the hub anew');
    }
  }

  private get leaveMs(): number {
    return Math.min(LEAVE_MS, this.settings.drainTimeoutMs / 5);
  }

  private async awaitAccess({ client, store }: Session, signal: AbortSignal): Promise<void> {
    const waiting = (reason: string) => {
      this.trouble = reason;
    };
    await awaitAccess({ client, store, settings: this.settings }, waiting, signal);
  }

  private eventsOf(ending: AbortController) {
    const ifCurrent = (act: () => void) => {
      if (this.ending === ending) act();
    };
    return {
      listed: (owners: readonly Ownership[]) =>
        ifCurrent(() => {
          this.owners = owners;
          this.balancedAt = this.settings.host.monotonic();
        }),
      balanced: () =>
        ifCurrent(() => {
          this.trouble = undefined;
        }),
      troubled: (reason: string) =>
        ifCurrent(() => {
          this.balancedAt = this.settings.host.monotonic();
          // Once it is ready, an outage of the storage or of the hub does not make it less so: it reads on.
          if (this.trouble !== undefined) this.trouble = reason;
        }),
      heard: (partitionId: string) => ifCurrent(() => this.silent.delete(partitionId)),
      refused: (partitionId: string, why: string) =>
        ifCurrent(() => {
          this.settings.metrics.count('silentPartitions');
          this.silent.set(partitionId, `is not read: ${why}`);
        }),
      failed: (error: Error) =>
        ifCurrent(() => {
          this.failure ??= error;
          ending.abort();
        }),
    };
  }

  /** Until the signal aborts, or the session can be trusted no longer. */
  private async watch(session: Session, over: AbortSignal): Promise<void> {
    const { host, silenceMs } = this.settings;
    const watchdog = new Watchdog(session.client, this.settings);
    const everyMs = Math.min(WATCH_MS, silenceMs / 2);
    let heardAt = host.monotonic();
    while (!over.aborted) {
      await host.sleep(everyMs, over);
      if (over.aborted) return;
      const idle = this.trouble === undefined;
      const { silent, undescribed, renumbered, unheard } = await watchdog.look(session.readings, everyMs, idle);
      for (const { reading, last } of renumbered) await session.readAnew(reading, last);
      await session.leaveFormerHub(everyMs);
      this.countUnowned(session);
      if (!unheard) heardAt = host.monotonic();
      const unread = session.unread(silenceMs);
      const none = silent.length + undescribed.length + unread.length === 0;
      if (none && host.monotonic() - heardAt <= silenceMs && !this.balancingHangs()) {
        this.forgetSilence(session);
        continue;
      }
      this.reportSilence(silent, undescribed, unread);
      return;
    }
  }

  /** The loop of the client that balances says nothing, neither good nor bad. */
  private balancingHangs(): boolean {
    const { host, ownershipMs, silenceMs } = this.settings;
    return host.monotonic() - this.balancedAt > Math.max(ownershipMs, silenceMs);
  }

  private reportSilence(silent: readonly Reading[], undescribed: readonly Reading[], unread: readonly string[]): void {
    const { log, metrics } = this.settings;
    for (const partitionId of unread) {
      metrics.count('silentPartitions');
      this.silent.set(partitionId, 'cannot be opened');
      log.error({ partition: partitionId }, 'a partition cannot be opened: each try ends before anything is read');
    }
    const report = ({ held }: Reading, message: string) => {
      metrics.count('silentPartitions');
      this.silent.set(held.partitionId, message.replace('a partition ', ''));
      log.error({ partition: held.id, delivered: held.lastDelivered ?? null }, message);
    };
    for (const reading of silent) report(reading, 'a partition is silent although the hub has more');
    for (const reading of undescribed) {
      report(reading, 'a partition brings nothing, and the hub does not say whether it has more');
    }
    if (silent.length + undescribed.length + unread.length === 0)
      log.error({}, 'the hub answers nothing, neither good nor bad');
  }

  /** A partition that is caught up is not silent, nor is one that somebody else reads. */
  private forgetSilence(session: Session): void {
    const mine = new Map(session.readings.map((reading) => [reading.held.partitionId, reading]));
    for (const partitionId of this.silent.keys()) {
      const reading = mine.get(partitionId);
      const owner = this.owners.find((each) => each.partitionId === partitionId)?.owner ?? '';
      const elsewhere = reading === undefined && owner !== '' && owner !== session.store.owner;
      if (elsewhere || reading?.isCaughtUp === true) this.silent.delete(partitionId);
    }
  }

  /** Partitions with an ownership that nobody renews, or with none, by the last look at the container. */
  private countUnowned({ store, partitionIds }: Session): void {
    const { host, metrics, ownershipMs } = this.settings;
    const stale = ({ owner, claimedAt }: Ownership) =>
      owner === '' || (owner !== store.owner && host.now() - claimedAt > 2 * ownershipMs);
    const listed = new Set(this.owners.map(({ partitionId }) => partitionId));
    const never = partitionIds.filter((partitionId) => !listed.has(partitionId));
    metrics.gauge('leasesUnowned', this.owners.filter(stale).length + never.length);
  }

  /** Work in flight, then the last checkpoints and the ownership, then the connection; all within the drain's time. */
  private async drain(session: Session, consumer: PartitionConsumer): Promise<void> {
    const { host, log, drainTimeoutMs } = this.settings;
    const done = new AbortController();
    const deadline = host.sleep(drainTimeoutMs - 2 * this.leaveMs, done.signal);
    await Promise.all(
      session.readings.map(async ({ held }) => {
        const finished = await Promise.race([consumer.finished(held), deadline.then(() => undefined)]);
        if (finished === undefined) log.warn({ partition: held.id }, 'work in flight outlasts the drain; leaving it');
        await held.release(this.leaveMs);
      }),
    );
    done.abort();
    await session.leave(this.leaveMs);
  }
}
