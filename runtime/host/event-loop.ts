import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 20;

/** Answers how long the process stood still, in milliseconds: the longest since the last call. */
export function watchEventLoop(): () => number {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  return () => {
    // Node.js counts the pause that it was asked to make as well.
    const longest = Math.max(0, delays.max / 1e6 - RESOLUTION_MS);
    delays.reset();
    return Math.round(longest);
  };
}
