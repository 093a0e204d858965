/** Asks the hub how far each partition is, and finds those that are silent, renumbered, or read by nobody. */
import type { EventHubConsumerClient } from '@azure/event-hubs';
import type { Log } from '../../processor/ports';
import { errorText } from './azure-errors';
import type { SourceSettings } from './options';
import type { PartitionTip, Reading } from './reading';

export interface Findings {
  /** Deliver nothing although the hub has more. */
  readonly silent: readonly Reading[];
  /** Deliver nothing, and the hub does not say whether it has more of them, while it answers for others. */
  readonly undescribed: readonly Reading[];
  /** Have a checkpoint beyond the hub's last event; with that last event's number. */
  readonly renumbered: readonly { readonly reading: Reading; readonly last: number }[];
  /** Nothing is known of any partition: the hub did not answer. */
  readonly unheard: boolean;
}

export class Watchdog {
  private readonly reported = new WeakSet<Reading>();

  constructor(
    private readonly client: EventHubConsumerClient,
    private readonly settings: SourceSettings,
  ) {}

  /**
   * One look at these partitions. Sets the gauges of lag. Ends within `withinMs`; never rejects.
   *
   * @param idle that nothing is read is as it should be: there is no lag then
   */
  async look(readings: readonly Reading[], withinMs: number, idle: boolean): Promise<Findings> {
    const { host, metrics, silenceMs } = this.settings;
    const over = new AbortController();
    const late = host.sleep(withinMs, over.signal);
    const looks = await Promise.all(
      readings.map(async (reading) => {
        const done = reading.held.lastDelivered;
        const tip = await Promise.race([this.tip(reading, over.signal), late.then(() => undefined)]);
        return { reading, tip, done };
      }),
    );
    over.abort();
    const held = looks.filter(({ reading }) => !reading.held.signal.aborted);
    const heard = held.flatMap(({ tip, ...look }) => (tip === undefined ? [] : [{ ...look, tip }]));
    if (heard.length > 0 || (readings.length === 0 && idle)) {
      metrics.gauge('consumerLag', Math.max(0, ...heard.map(({ reading, tip }) => reading.lag(tip))));
      metrics.gauge(
        'millisBehindLatest',
        Math.max(0, ...heard.map(({ reading, tip }) => Math.round(reading.behindMs(tip)))),
      );
    }
    for (const { reading, tip } of heard) this.reportExpired(reading, tip);
    return {
      silent: heard.filter(({ reading, tip }) => reading.isSilent(tip, silenceMs)).map(({ reading }) => reading),
      renumbered: heard
        .filter(({ reading, tip, done }) => reading.isRenumbered(tip, done, silenceMs))
        .map(({ reading, tip }) => ({ reading, last: tip.last })),
      undescribed:
        heard.length === 0
          ? []
          : held
              .filter(({ reading, tip }) => tip === undefined && reading.isQuiet(silenceMs))
              .map(({ reading }) => reading),
      unheard: readings.length > 0 && heard.length === 0,
    };
  }

  private async tip({ held }: Reading, abortSignal: AbortSignal): Promise<PartitionTip | undefined> {
    try {
      const found = await this.client.getPartitionProperties(held.partitionId, { abortSignal });
      return { first: found.beginningSequenceNumber, last: found.lastEnqueuedSequenceNumber, empty: found.isEmpty };
    } catch (error) {
      this.settings.log.debug({ partition: held.id, error: errorText(error) }, 'a partition did not describe itself');
      return undefined;
    }
  }

  /** Once for each time that a partition is won. A gap before the first event that comes is reported where it comes. */
  private reportExpired(reading: Reading, tip: PartitionTip): void {
    const expired = reading.allExpired(tip);
    if (expired === 0 || this.reported.has(reading)) return;
    this.reported.add(reading);
    reportExpired(reading, expired, this.settings.log);
  }
}

export function reportExpired({ held }: Reading, expired: number, log: Log): void {
  log.error(
    { partition: held.id, expired },
    'events had expired before they were read: the hub keeps them no longer. Publish them again',
  );
}
