/**
 * Points of the journey at which a test can kill the process, in journey order.
 * They are compiled into the shipped code and do nothing unless CHARGEONCE_CRASH_AT names one.
 */
export const CRASH_POINTS = [
  'after-claim',
  'after-create',
  'after-save',
  'after-gate',
  'after-confirm',
  'after-settle',
  'before-checkpoint',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];
