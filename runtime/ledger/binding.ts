/** What a ledger belongs to, and whether this runtime may work with its schema. */
import { AccountMismatch, SchemaTooNew, SchemaTooOld } from './errors';
import { SCHEMA_VERSION } from './schema-version';
import type { Statements } from './statements';

export interface AccountIdentity {
  readonly livemode: boolean;
  /** `acct_…`; absent when the key may not read it. */
  readonly accountId?: string;
}

export interface MetaRow {
  readonly schema_version: number;
  readonly min_runtime_version: number;
  readonly ledger_id: string;
  readonly livemode: boolean | null;
  readonly stripe_account: string | null;
}

const UNDEFINED_TABLE = '42P01';

async function readMeta(statements: Statements): Promise<MetaRow> {
  const rows = await statements.run<MetaRow>('readMeta', []).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === UNDEFINED_TABLE) return [];
    throw error;
  });
  const meta = rows[0];
  if (!meta) throw new SchemaTooOld(undefined, SCHEMA_VERSION);
  return meta;
}

export async function checkSchema(statements: Statements): Promise<MetaRow> {
  const meta = await readMeta(statements);
  if (meta.schema_version < SCHEMA_VERSION) throw new SchemaTooOld(meta.schema_version, SCHEMA_VERSION);
  if (meta.min_runtime_version > SCHEMA_VERSION) {
    throw new SchemaTooNew(meta.schema_version, meta.min_runtime_version, SCHEMA_VERSION);
  }
  return meta;
}

export async function bindAccount(statements: Statements, account: AccountIdentity): Promise<void> {
  await checkSchema(statements);
  await statements.run('bindAccount', [account.livemode, account.accountId ?? null]);
  const bound = await readMeta(statements);
  const mode = (live: boolean | null) => (live ? 'live' : 'test');
  if (bound.livemode !== account.livemode) {
    throw new AccountMismatch(
      `This ledger belongs to Stripe's ${mode(bound.livemode)} mode and the key is of ${mode(account.livemode)} mode. ` +
        'Use the key of that mode, or a database of its own for each mode.',
    );
  }
  if (account.accountId !== undefined && bound.stripe_account !== account.accountId) {
    throw new AccountMismatch(
      `This ledger belongs to the Stripe account ${bound.stripe_account} and the key is of ${account.accountId}. ` +
        'Use a key of that account, or a database of its own for each account.',
    );
  }
}
