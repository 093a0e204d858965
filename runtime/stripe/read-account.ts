/** Whose key it is: asked once, at start, before the ledger is bound to the account. */
import type { Host } from '../host/host';
import type { Log } from '../processor/ports';
import type { Page } from './list-intents';
import { asRecord, asText } from './read-intent';

export interface AccountIdentity {
  readonly livemode: boolean;
  /** Absent when the key may not read its account. */
  readonly accountId?: string;
}

/** A short outage of Stripe is waited for; after that the platform restarts the worker, which begins anew. */
const MAX_TRIES = 8;
const PAUSE_FIRST_MS = 500;
const PAUSE_LONGEST_MS = 10_000;

/** Rejects when Stripe refuses the key, or gives no answer for about a minute. */
export async function readAccount(
  ask: () => Promise<Page>,
  livemode: boolean,
  tools: { readonly host: Host; readonly log: Log },
): Promise<AccountIdentity> {
  for (let tries = 1; ; tries++) {
    const page = await ask();
    if ('body' in page) return accountIn(page.body, livemode);
    const failure = page.answer;
    // A restricted key may not read its account: 403, or 404 where the endpoint is hidden from it.
    if (failure.kind === 'refused' || (failure.kind === 'unauthorized' && failure.status === 403)) return { livemode };
    const detail = 'message' in failure ? failure.message : failure.kind;
    if (failure.kind === 'unauthorized' || tries === MAX_TRIES) {
      throw new Error(`Stripe did not say whose key this is: ${failure.kind}: ${detail}`);
    }
    tools.log.warn({ answer: failure.kind, stripe: detail }, 'Stripe did not say whose key this is; asked again');
    await tools.host.sleep(Math.min(PAUSE_LONGEST_MS, PAUSE_FIRST_MS * 2 ** (tries - 1)));
  }
}

function accountIn(body: unknown, livemode: boolean): AccountIdentity {
  const accountId = asText(asRecord(body)?.id);
  if (accountId === undefined || !accountId.startsWith('acct_')) {
    throw new Error('Stripe did not say whose key this is: the answer is not an account');
  }
  return { livemode, accountId };
}
