/** The verbs that exist. A later one is a file of its own and a line here. */
import { consumeVerb } from './consume';
import { imageVerb } from './image/image';
import { migrateVerb } from './migrate';
import { publishVerb } from './publish';
import { reconcileVerb } from './reconcile';
import type { RunPipeline } from './run-pipeline';
import { sizeVerb } from './size';
import type { Verb } from './verb';

/** Loaded when `consume` runs, so that the other verbs start without the SDKs of the worker. */
const runPipeline: RunPipeline = async (config, context) => {
  const [pipeline, { openSource }] = await Promise.all([import('../pipeline.js'), import('../open-source.js')]);
  return pipeline.runPipeline(config, context, openSource);
};

export function verbs(): readonly Verb[] {
  return [consumeVerb(runPipeline), migrateVerb, publishVerb, reconcileVerb, sizeVerb, imageVerb];
}
