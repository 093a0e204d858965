/** Whether events wait on the stream for as long as an outage may last. Of a stream made by the constructs synth sees to it. */
import { DescribeStreamSummaryCommand, type KinesisClient } from '@aws-sdk/client-kinesis';
import { MIN_RETENTION_HOURS } from '../../contract';
import type { Log } from '../../processor/ports';
import { errorText } from './aws-errors';
import type { StreamRef } from './shards';

/**
 * Warns of a stream that forgets too soon, also when nobody may ask how long it keeps records. It refuses nothing: what
 * is on the stream now would wait, and expire the sooner.
 */
export async function warnOfRetention(
  kinesis: KinesisClient,
  stream: StreamRef,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  try {
    const asked = new DescribeStreamSummaryCommand(stream);
    const { StreamDescriptionSummary } = await kinesis.send(asked, { abortSignal: signal });
    const retentionHours = StreamDescriptionSummary?.RetentionPeriodHours;
    if (retentionHours === undefined || retentionHours >= MIN_RETENTION_HOURS) return;
    log.warn(
      { retentionHours, allowed: `${MIN_RETENTION_HOURS} h or more` },
      'the stream keeps events for too short a time: after an outage that is longer, those not yet charged are lost. Raise it: aws kinesis increase-stream-retention-period',
    );
  } catch (error) {
    if (signal.aborted) return;
    log.warn({ error: errorText(error) }, 'how long the stream keeps events could not be read; going on without');
  }
}
