/** Which faults of a statement may be answered by sending it again. Every statement of this room is safe to repeat. */

/**
 * - `again`: the connection, the server or a lock failed; the statement may be repeated.
 * - `login`: the server refused the password; it is read again before the next connection.
 * - `final`: repeating changes nothing.
 */
export type FaultKind = 'again' | 'login' | 'final';

/** A password function rejected: a fault of wherever the password is kept, worth another try. */
export class PasswordUnavailable extends Error {
  override readonly name = 'PasswordUnavailable';
}

const LOGIN = new Set(['28P01', '28000']);
const AGAIN = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock not available
  '57014', // canceled, by a timeout of the server
  '57P01', // terminated by an administrator
  '57P02', // crash of the server
  '57P03', // starting up or shutting down
  '57P05', // idle session timeout
  '53300', // too many connections
  '25006', // read only: a failover has made this server a replica
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
]);
/** What the driver says, without a code, when a connection is gone. */
const GONE =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed and is not queryable|socket hang up|Client network socket disconnected)/;

export function faultKind(error: unknown): FaultKind {
  if (error instanceof PasswordUnavailable) return 'again';
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.every((one) => faultKind(one) === 'again') ? 'again' : 'final';
  }
  if (!(error instanceof Error)) return 'final';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (LOGIN.has(code)) return 'login';
  if (AGAIN.has(code) || code.startsWith('08')) return 'again';
  return GONE.test(error.message) ? 'again' : 'final';
}

/** Whether the fault lies in the values that were sent, so that other values may do. */
export function blamesValues(error: unknown): boolean {
  // Data exceptions, constraints, and what a trigger of the database's owner raises.
  return error instanceof Error && 'code' in error && /^(22|23|P0)/.test(String(error.code));
}
