/** PostgreSQL is gone while events are handled: nobody charges without it, and what was delivered is not forgotten. */
import { systemHost } from '../../../../runtime/host';
import type { Stage } from '../../stage';
import type { EventHubsParts } from './parts';

const FAILURES = 'chargeonce_ledger_failures_total';
/** What the ledger had allowed has been sent by then. */
const MARGIN_MS = 4_000;
const LOOK_MS = 6_000;

export async function withoutLedger(stage: Stage<EventHubsParts>, publish: () => Promise<unknown>): Promise<void> {
  const { parts, fleet, screen, log } = stage;
  const before = await fleet.sum(FAILURES);
  log.injected('database-outage');
  const sent = publish();
  const outage = parts.ledgerRelay.cut();
  screen.fault('database-outage', 'PostgreSQL is gone for 10 s, while events are being handled');
  try {
    await sent;
    await systemHost.sleep(MARGIN_MS);
    const confirmed = confirmsOf(parts);
    await systemHost.sleep(LOOK_MS);
    const begun = confirmsOf(parts) - confirmed;
    if (begun > 0) log.problems.push(`${begun} confirms were sent while the ledger was gone.`);
    const failures = (await fleet.sum(FAILURES)) - before;
    if (outage.hits > 0 && failures > 0) log.seen('database-outage');
    screen.fault('database-outage', `over: ${failures} statements failed, ${begun} confirms were sent meanwhile`);
  } finally {
    outage.end();
  }
}

function confirmsOf({ stripe }: EventHubsParts): number {
  return stripe.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/confirm')).length;
}
