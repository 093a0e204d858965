/** Kinesis: the stream, the lease table and the ledger of the synthesized CDK stack. */
import type { LocalSource } from '../source';
import { type KinesisParts, startParts } from './parts';
import { play } from './play';
import { publish } from './publish';
import { loadTemplate } from './synthesize';
import { readPlan } from './template';

export const kinesis: LocalSource<KinesisParts> = {
  name: 'kinesis',
  open: (options) => startParts(readPlan(loadTemplate(options)), options.screen, options.folder),
  publish,
  play,
};
