/** How often the clock is looked at: a stop shorter than this is of no interest. */
const TICK_MS = 50;

/**
 * Two readers of how long the process stood still, in milliseconds, each since its own last call. Not Node's histogram:
 * it forgets a stop that has just ended when it is reset before the timer that would have noticed it.
 */
export function watchEventLoop(): [() => number, () => number] {
  let last = performance.now();
  const longest: [number, number] = [0, 0];
  const look = () => {
    const now = performance.now();
    const stopped = now - last - TICK_MS;
    longest[0] = Math.max(longest[0], stopped);
    longest[1] = Math.max(longest[1], stopped);
    last = now;
  };
  setInterval(look, TICK_MS).unref();
  const reader = (index: 0 | 1) => () => {
    look();
    const stopped = longest[index];
    longest[index] = 0;
    return Math.round(stopped);
  };
  return [reader(0), reader(1)];
}
