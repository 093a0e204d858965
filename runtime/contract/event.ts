/** Version of the event body this runtime understands. */
export const EVENT_VERSION = 1;
