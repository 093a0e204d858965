/**
 * Sends one statement, and again while the database is away. No statement leaves session state behind: parameters are
 * bound without a name, so a pooler in transaction mode may serve each one by another connection.
 */
import { Pool, type QueryResultRow } from 'pg';
import type { Host } from '../host/host';
import type { Log, Metrics } from '../processor/ports';
import { LedgerClient } from './client';
import { connectionConfig, type LedgerConnection, type LoginState } from './connection';
import { LedgerUnavailable, reason } from './errors';
import { faultKind } from './faults';
import { QUERIES } from './generated/sql';

export type QueryName = keyof typeof QUERIES;

export interface StatementOptions {
  readonly connection: LedgerConnection;
  readonly host: Host;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Connections kept open at most. Default: 4. */
  readonly maxConnections?: number;
  /** How long one statement may take before its connection is given up, in milliseconds. Default: 15000. */
  readonly statementTimeoutMs?: number;
  /** How long a statement is repeated while the database is away, in milliseconds. Default: 60000. */
  readonly retryForMs?: number;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

export class Statements {
  private readonly pool: Pool;
  private readonly login: LoginState = { refused: false };
  private readonly closing = new AbortController();

  constructor(private readonly options: StatementOptions) {
    this.pool = new Pool({
      ...connectionConfig(options.connection, this.login),
      Client: LedgerClient,
      max: options.maxConnections ?? 4,
      connectionTimeoutMillis: 10_000,
      query_timeout: options.statementTimeoutMs ?? 15_000,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      application_name: 'chargeonce',
    });
    this.pool.on('error', (error) => options.log.debug({ error: reason(error) }, 'an idle ledger connection ended'));
  }

  /** Rejects with LedgerUnavailable when the time for repeating is over, with PostgreSQL's error when it is final. */
  async run<Row extends QueryResultRow>(name: QueryName, values: readonly unknown[]): Promise<Row[]> {
    const { host, log, metrics, retryForMs = 60_000 } = this.options;
    const started = host.monotonic();
    for (let tries = 1; ; tries += 1) {
      if (this.closing.signal.aborted) throw new LedgerUnavailable(name, 0, new Error('the ledger was closed'));
      metrics.count('ledgerStatements', { statement: name });
      try {
        const { rows } = await this.pool.query<Row>(QUERIES[name], [...values]);
        this.login.refused = false;
        if (tries > 1) log.info({ statement: name, tries }, 'the ledger answers again');
        return rows;
      } catch (error) {
        const kind = faultKind(error);
        if (kind === 'final') throw error;
        metrics.count('ledgerFailures');
        const help = kind === 'login' ? this.options.connection.loginHelp : undefined;
        if (kind === 'login') this.login.refused = true;
        const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1)) * (0.5 + host.random() / 2);
        const waited = host.monotonic() - started;
        if (waited + pause > retryForMs) throw new LedgerUnavailable(name, waited, error, kind === 'login', help);
        if (tries === 1)
          log.warn({ statement: name, error: reason(error), help }, 'a ledger statement failed, repeating it');
        await host.sleep(pause, this.closing.signal);
      }
    }
  }

  /** Waits for statements in flight and closes the connections. Statements that are being repeated give up. */
  async close(): Promise<void> {
    if (this.closing.signal.aborted) return;
    this.closing.abort();
    await this.pool.end();
  }
}
