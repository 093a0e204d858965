/** The Stripe room: the only importer of the SDK. */
export { createStripe, STRIPE_API_VERSION, type StripeClient, type StripeOptions } from './create-stripe';
export { METADATA } from './params';
