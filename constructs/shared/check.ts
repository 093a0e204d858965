/** One wrong prop, in the user's words. */
export interface WrongProp {
  /** Where: the construct's path. */
  readonly path: string;
  /** The prop, as the user typed it. */
  readonly prop: string;
  readonly received: string;
  readonly allowed: string;
  /** What to do about it, and why the limit exists. */
  readonly wayOut: string;
}

/** The error every construct throws at synth: what is wrong, the value received, the values allowed, the way out. */
export function wrongProp({ path, prop, received, allowed, wayOut }: WrongProp): Error {
  return new Error(`[${path}] ${prop} is ${received}; allowed: ${allowed}. ${wayOut}`);
}
