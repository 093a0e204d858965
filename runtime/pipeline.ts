import type { RunPipeline } from './ops/run-pipeline';

/** The journey: source, decode, claim, charge, settle, checkpoint. */
export const runPipeline: RunPipeline = async (config) => {
  throw new Error(`the journey of an event from ${config.source} is not wired yet`);
};
