/** Which half of a Stripe account the key belongs to. A key of the other half is refused at start. */
export enum StripeMode {
  /** No money moves. */
  TEST = 'test',
  /** Real cards. Said in code, never guessed. */
  LIVE = 'live',
}
