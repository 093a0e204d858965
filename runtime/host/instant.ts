/** Instants of outside systems. Nothing here reads the clock. */

/** The Date that an SDK wants for milliseconds since the epoch. */
export function dateOf(epochMs: number): Date {
  return new Date(epochMs);
}

/** Milliseconds since the epoch of an ISO 8601 instant; undefined when it is none. */
export function parseInstant(text: string): number | undefined {
  const instant = Date.parse(text);
  return Number.isNaN(instant) ? undefined : instant;
}
