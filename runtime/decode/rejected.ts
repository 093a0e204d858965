/** Why a body is no event: one sentence for people. Thrown inside this room only; the decoder turns it into an answer. */
export class Rejected extends Error {}

/** Fails with the sentence. */
export function reject(reason: string): never {
  throw new Rejected(reason);
}
