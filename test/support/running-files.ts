/** Marker lines by which the reporter tells the test entry which files are running; never shown. */
export const STARTED = '\u0000started ';
export const ENDED = '\u0000ended ';
