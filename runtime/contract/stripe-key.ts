/** A secret or restricted key of Stripe: its kind, its mode, and what tells it from others. */
export const STRIPE_KEY = /^(sk|rk)_(test|live)_[A-Za-z0-9_]{3,}$/;
