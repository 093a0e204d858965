import { Client } from 'pg';

/**
 * A connection that ends when its login fails. The driver leaves it open when no password could be had, and the server
 * counts it, waiting, for a minute: a worker that tries again every second or two would take all there are.
 */
export class LedgerClient extends Client {
  override connect(): Promise<this>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<this> | undefined {
    const connected = super.connect().catch((error: unknown) => {
      // Not waited for: where the server has ended it already, nothing will tell.
      this.end().catch(() => undefined);
      throw error;
    }) as Promise<this>;
    if (!callback) return connected;
    connected.then(() => callback(null as never), callback);
    return undefined;
  }
}
