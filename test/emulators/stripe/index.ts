export { type ApiKey, type KeyRing, maskKey, RUNTIME_PERMISSIONS } from './auth';
export { type Books, billingIdentity, type DoubleCharge, type Movement } from './books';
export type { EmulatorClock } from './clock';
export { type NewCustomer, type StripeEmulator, type StripeEmulatorOptions, startStripeEmulator } from './emulator';
export type { RateLimitReason } from './errors';
export {
  type ArmedFault,
  FAULT_POINTS,
  type Fault,
  type FaultInfo,
  type FaultKind,
  type FaultPoint,
  type Faults,
  type FaultTarget,
  type Hold,
} from './faults';
export type { Charge, Customer, PaymentIntent, PaymentMethod, Status } from './objects';
export type { Outcome } from './outside';
export type { RateLimits } from './rate-limit';
export type { RequestRecord } from './server';
export { TEST_METHOD_IDS } from './test-methods';
export type { EventMatch, WebhookDelivery, WebhookEndpoint, WebhookOptions } from './webhook-endpoint';
