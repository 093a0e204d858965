/** Event Hubs: the hub, the checkpoint container and the ledger that the Pulumi program declares. */
import type { LocalSource } from '../source';
import { declaredBy } from './declared';
import { type EventHubsParts, startParts } from './parts';
import { play } from './play';
import { readProgram } from './program';
import { publish } from './publish';

export const eventHubs: LocalSource<EventHubsParts> = {
  name: 'event-hubs',
  async open({ screen, folder, stack }) {
    const plan = readProgram(await declaredBy(stack));
    screen.step(`${stack ?? 'stacks/azure'} declares ${plan.resources} resources`);
    return startParts(plan, screen, folder);
  },
  publish,
  play,
};
