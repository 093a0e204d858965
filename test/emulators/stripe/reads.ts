/** Endpoints that only read: intents, charges, events, the account. */
import { invalidRequest } from './errors';
import { CREATED, EXPAND, isCreatedWithin, PAGE, page, pageSize } from './list';
import type { StripeObject } from './objects';
import type { Operation } from './operation';
import { choice, integer, type ParamSpecs, type Params, text } from './params';
import { compileQuery, type SearchIndex } from './search';
import { matchesType } from './webhook-endpoint';
import type { Call } from './world';

const intents = '/v1/payment_intents';
const charges = '/v1/charges';

/** A page of what the index knows by now: behind the truth, unlike a list. */
function search(index: SearchIndex<StripeObject>, params: Params, url: string): object {
  const found = index.visible().filter(compileQuery(params.text('query') ?? ''));
  const size = pageSize(params);
  const start = Number(params.text('page') ?? '0');
  if (!Number.isInteger(start)) throw invalidRequest('Invalid page', { param: 'page' });
  const hasMore = found.length > start + size;
  return {
    object: 'search_result',
    data: found.slice(start, start + size),
    has_more: hasMore,
    next_page: hasMore ? String(start + size) : null,
    url: `${url}/search`,
  };
}

function listIntents({ world, params }: Call): object {
  const customer = params.text('customer');
  if (customer !== undefined) world.customer(customer, 'customer', false);
  const found = [...world.intents.values()].filter(
    (intent) => (customer === undefined || intent.customer === customer) && isCreatedWithin(intent.created, params),
  );
  return page(found, params, intents);
}

function listCharges({ world, params }: Call): object {
  const customer = params.text('customer');
  const intent = params.text('payment_intent');
  const found = [...world.charges.values()].filter(
    (charge) =>
      (customer === undefined || charge.customer === customer) &&
      (intent === undefined || charge.payment_intent === intent) &&
      isCreatedWithin(charge.created, params),
  );
  return page(found, params, charges);
}

/** Stripe lists the events of the last 30 days. */
const EVENT_DAYS = 30;

function listEvents({ world, params }: Call): object {
  const type = params.text('type');
  const delivered = params.text('delivery_success');
  const oldest = world.clock.seconds() - EVENT_DAYS * 86_400;
  const found = [...world.events.values()].filter(
    (event) =>
      event.created >= oldest &&
      (type === undefined || matchesType(event.type, type)) &&
      (delivered === undefined || (event.pending_webhooks === 0) === (delivered === 'true')) &&
      isCreatedWithin(event.created, params),
  );
  return page(found, params, '/v1/events');
}

function account({ world }: Call): object {
  return {
    id: world.account,
    object: 'account',
    business_type: 'company',
    charges_enabled: true,
    country: 'US',
    default_currency: 'usd',
    details_submitted: true,
    email: 'billing@example.com',
    payouts_enabled: true,
    type: 'standard',
  };
}

const read = { method: 'GET' } as const;
const SEARCH: ParamSpecs = { ...EXPAND, 'query!': text(), limit: integer, page: text() };

export const READS: readonly Operation[] = [
  {
    ...read,
    name: 'payment_intents.retrieve',
    path: `${intents}/:id`,
    permission: 'payment_intent_read',
    params: { ...EXPAND, client_secret: text() },
    execute: ({ world, id }) => world.intent(id),
  },
  {
    ...read,
    name: 'payment_intents.list',
    path: intents,
    permission: 'payment_intent_read',
    params: { ...PAGE, created: CREATED, customer: text() },
    execute: listIntents,
  },
  {
    ...read,
    name: 'payment_intents.search',
    path: `${intents}/search`,
    permission: 'payment_intent_read',
    params: SEARCH,
    execute: ({ world, params }) => search(world.intentIndex, params, intents),
  },
  {
    ...read,
    name: 'charges.retrieve',
    path: `${charges}/:id`,
    permission: 'charge_read',
    params: EXPAND,
    execute: ({ world, id }) => world.charge(id, 'id', true),
  },
  {
    ...read,
    name: 'charges.list',
    path: charges,
    permission: 'charge_read',
    params: { ...PAGE, created: CREATED, customer: text(), payment_intent: text() },
    execute: listCharges,
  },
  {
    ...read,
    name: 'charges.search',
    path: `${charges}/search`,
    permission: 'charge_read',
    params: SEARCH,
    execute: ({ world, params }) => search(world.chargeIndex, params, charges),
  },
  {
    ...read,
    name: 'events.list',
    path: '/v1/events',
    permission: 'event_read',
    params: { ...PAGE, created: CREATED, type: text(), delivery_success: choice('true', 'false') },
    execute: listEvents,
  },
  {
    ...read,
    name: 'account.retrieve',
    path: '/v1/account',
    permission: 'accounts_kyc_basic_read',
    params: EXPAND,
    execute: account,
  },
];
