/** `chargeonce reconcile` on the real ledger and over HTTP: reads until it is told to act, and then does what a worker does. */
import { beforeEach, describe, expect, it } from 'vitest';
import { systemHost } from '../../runtime/host';
import { runCli } from '../../runtime/ops/cli';
import { verbs } from '../../runtime/ops/verbs';
import { audit } from '../support/audit';
import { API_KEY, type BillingWorld, useBillingWorld } from '../support/billing-world';
import { fakeShell } from '../unit/ops/fake-shell';

const open = useBillingWorld();
let world: BillingWorld;
beforeEach(() => {
  world = open();
});

async function reconcile(args: string[] = [], changes: Record<string, string | undefined> = {}) {
  const { shell, written } = fakeShell(['reconcile', ...args], {
    DATABASE_URL: world.db.url,
    PGSSLMODE: 'disable',
    ...(args.includes('--apply') ? stripeSettings() : {}),
    ...changes,
  } as Record<string, string>);
  const code = await runCli({ shell, host: systemHost, verbs: verbs(), version: '0' });
  return { code, ...written };
}

const stripeSettings = () => ({
  STRIPE_API_KEY: API_KEY,
  STRIPE_API_BASE: world.emulator.url,
  STRIPE_MAX_RPS: '100',
  SPEND_CAP_MODE: 'off',
});

/** A row that a worker claimed and left, as a crash does. */
async function leftBehind(customer: string): Promise<void> {
  world.customer(customer);
  await world.worker().claim(customer);
}

const everything = () => world.db.query('SELECT * FROM billing_records ORDER BY customer_id');

describe('without --apply', () => {
  it('shows what is open, sends nothing to Stripe and changes no row', async () => {
    await leftBehind('a');
    await world.expireClaims();
    const before = await everything();
    const { code, out } = await reconcile();
    expect(code).toBe(1);
    expect(out).toMatch(/^1 row is not finished\.\n/);
    expect(out).toMatch(/^a +\S+ +\d+ usd +pending +\d+ s +none +nobody works on it$/m);
    expect(world.emulator.requests).toEqual([]);
    expect(await everything()).toEqual(before);
  });

  it('needs no Stripe key, ends with 0 when every row is finished, and answers machines', async () => {
    expect(await reconcile()).toMatchObject({ code: 0, out: 'Every row is finished.\n' });
    await leftBehind('a');
    await leftBehind('b');
    const { code, out } = await reconcile(['--json', '--limit', '1']);
    expect(code).toBe(1);
    const said = JSON.parse(out);
    expect(said).toMatchObject({ apply: false, total: 2, rows: [{ customerId: 'a', status: 'pending' }] });
    expect(said.rows[0].claimedBy).toMatch(/^w1\//);
  });

  it('refuses a limit that is none, and a database that is not there', async () => {
    expect(await reconcile(['--limit', '0'])).toMatchObject({ code: 2, out: '' });
    expect((await reconcile([], { DATABASE_URL: undefined })).err).toContain('DATABASE_URL');
  });
});

describe('with --apply', () => {
  it('ends what nobody works on, once, and leaves alone what somebody does', async () => {
    for (const customer of ['a', 'b', 'c', 'd', 'e']) await leftBehind(customer);
    await world.expireClaims();
    await leftBehind('held');
    const { code, out } = await reconcile(['--apply']);
    expect(out).toMatch(/^Taken 5, ended 5\.\n/);
    expect(out).toMatch(/^held .*claimed by w\d+\//m);
    expect(code).toBe(1);
    expect((await world.row('held')).status).toBe('pending');
    for (const customer of ['a', 'b', 'c', 'd', 'e']) expect((await world.row(customer)).status).toBe('charged');
    await world.expireClaims();
    expect(await reconcile(['--apply'])).toMatchObject({ code: 0, out: 'Taken 1, ended 1.\n' });
    expect(await reconcile(['--apply'])).toMatchObject({ code: 0, out: 'Taken 0, ended 0.\n' });
    for (const customer of ['a', 'held']) expect(world.charges(customer)).toBe(1);
    expect(await audit(world)).toEqual([]);
  });

  it('finds the charge that was made before the worker died, and does not make another', async () => {
    const doomed = world.worker();
    const event = world.customer('a');
    await doomed.deliver(event);
    await world.db.query(`UPDATE billing_records SET status = 'pending', charge_id = NULL, settled_at = NULL,
      claimed_by = 'gone', claim_expires_at = now() - interval '1 ms'`);
    expect((await reconcile(['--apply', '--json'])).out).toContain('"taken":1,"ended":1');
    expect((await world.row('a')).status).toBe('charged');
    expect(world.charges('a')).toBe(1);
  });

  it('stops when Stripe refuses the key, and says so', async () => {
    for (const customer of ['a', 'b', 'c', 'd', 'e', 'f']) await leftBehind(customer);
    await world.expireClaims();
    const STRIPE_API_KEY = 'rk_test_readsonly';
    world.emulator.keys.set(STRIPE_API_KEY, { permissions: ['payment_intent_read', 'customer_read'] });
    const { code, err } = await reconcile(['--apply'], { STRIPE_API_KEY });
    expect(code).toBe(2);
    expect(err).toMatch(/Stripe refuses the key, nothing more was tried: .*payment_intent/);
    expect(world.emulator.requests.filter(({ operation }) => operation === 'payment_intents.create')).toHaveLength(4);
    for (const customer of ['a', 'f']) expect((await world.row(customer)).status).toBe('pending');
  });

  it('asks for all that it lacks at once', async () => {
    const { code, err } = await reconcile(['--apply'], { STRIPE_API_KEY: undefined, SPEND_CAP_MODE: undefined });
    expect(code).toBe(2);
    expect(err).toContain('STRIPE_API_KEY');
    expect(err).toContain('SPEND_CAP_MODE');
  });
});
