/** Endpoints of customers and their payment methods. */
import { StripeError } from './errors';
import { EXPAND, PAGE, page } from './list';
import { type Customer, newCustomer, type PaymentMethod } from './objects';
import type { Operation } from './operation';
import { clearable, metadata, object, type ParamSpecs, type Params, text } from './params';
import type { Call, World } from './world';

const FIELDS: ParamSpecs = {
  ...EXPAND,
  description: clearable(),
  email: clearable(512),
  invoice_settings: object({ default_payment_method: clearable() }),
  metadata,
  name: clearable(256),
  phone: clearable(20),
};

/** A customer whose default card is one of Stripe's test methods, an existing method, or none. */
export function addCustomer(
  world: World,
  given: { id?: string; defaultPaymentMethod?: string | null; defaultSource?: string },
): Customer {
  const customer = newCustomer(world.birth('cus', given.id));
  if (world.customers.has(customer.id)) throw new Error(`customers.create: ${customer.id} exists already`);
  const methodId = given.defaultPaymentMethod === undefined ? 'pm_card_visa' : given.defaultPaymentMethod;
  if (methodId !== null && given.defaultSource === undefined) {
    const method = world.paymentMethod(methodId, 'payment_method', false);
    method.customer = customer.id;
    customer.invoice_settings.default_payment_method = method.id;
  }
  if (given.defaultSource !== undefined) {
    const card = world.cloneTestMethod(given.defaultPaymentMethod ?? 'pm_card_visa', given.defaultSource);
    if (card !== undefined) card.customer = customer.id;
    customer.default_source = given.defaultSource;
  }
  world.customers.set(customer.id, customer);
  return customer;
}

function applyFields(customer: Customer, params: Params): void {
  customer.metadata = params.mergedMetadata(customer.metadata);
  for (const name of ['description', 'email', 'name', 'phone'] as const) {
    if (params.has(name)) Object.assign(customer, { [name]: params.textOrNull(name) });
  }
  const settings = params.child('invoice_settings');
  if (settings.has('default_payment_method')) {
    customer.invoice_settings.default_payment_method = settings.textOrNull('default_payment_method');
  }
}

function create({ world, params, cause }: Call): Customer {
  const customer = newCustomer(world.birth('cus'));
  applyFields(customer, params);
  const methodId = params.text('payment_method');
  if (methodId !== undefined) attachTo(world, world.paymentMethod(methodId, 'payment_method', false), customer);
  world.customers.set(customer.id, customer);
  world.emit('customer.created', customer, cause);
  return customer;
}

function update({ world, params, id, cause }: Call): Customer {
  const customer = world.customer(id, 'id', true);
  applyFields(customer, params);
  world.emit('customer.updated', customer, cause);
  return customer;
}

function attach({ world, params, id, cause }: Call): PaymentMethod {
  const method = world.paymentMethod(id, 'payment_method', true);
  attachTo(world, method, world.customer(params.text('customer') ?? '', 'customer', false));
  world.emit('payment_method.attached', method, cause);
  return method;
}

/** Stripe checks the card when it is attached, so that most declining test cards are refused here. */
function attachTo(world: World, method: PaymentMethod, customer: Customer): void {
  const behaviour = world.behaviour(method);
  if (behaviour.kind === 'declines' && behaviour.onAttach) {
    throw new StripeError(402, { type: 'card_error', ...behaviour.error });
  }
  method.customer = customer.id;
}

const customers = '/v1/customers';
const methods = '/v1/payment_methods';

export const CUSTOMER_OPERATIONS: readonly Operation[] = [
  {
    name: 'customers.create',
    method: 'POST',
    path: customers,
    permission: 'customer_write',
    params: { ...FIELDS, payment_method: text() },
    execute: create,
  },
  {
    name: 'customers.update',
    method: 'POST',
    path: `${customers}/:id`,
    permission: 'customer_write',
    params: FIELDS,
    locks: true,
    execute: update,
  },
  {
    name: 'customers.retrieve',
    method: 'GET',
    path: `${customers}/:id`,
    permission: 'customer_read',
    params: EXPAND,
    execute: ({ world, id }) => world.customer(id, 'id', true),
  },
  {
    name: 'customers.list_payment_methods',
    method: 'GET',
    path: `${customers}/:id/payment_methods`,
    permission: 'payment_method_read',
    params: { ...PAGE, type: text() },
    execute: ({ world, params, id }) => {
      const customer = world.customer(id, 'customer', true);
      const type = params.text('type');
      const own = [...world.paymentMethods.values()].filter(
        (method) => method.customer === customer.id && (type === undefined || method.type === type),
      );
      return page(own, params, `${customers}/${customer.id}/payment_methods`);
    },
  },
  {
    name: 'payment_methods.retrieve',
    method: 'GET',
    path: `${methods}/:id`,
    permission: 'payment_method_read',
    params: EXPAND,
    execute: ({ world, id }) => world.paymentMethod(id, 'payment_method', true),
  },
  {
    name: 'payment_methods.attach',
    method: 'POST',
    path: `${methods}/:id/attach`,
    permission: 'payment_method_write',
    params: { ...EXPAND, 'customer!': text() },
    execute: attach,
  },
];
