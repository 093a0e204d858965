/** What is done to the Event Hubs run, and when. */
import type { Stage } from '../../stage';
import type { EventHubsParts } from './parts';

export async function play(stage: Stage<EventHubsParts>): Promise<undefined> {
  await stage.startWorkers();
  await stage.send(stage.lines(0, 1));
}
