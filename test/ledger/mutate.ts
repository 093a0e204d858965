/** Takes a rule out of a function of the test's own database, to show that the rule's test notices. */
import type { LedgerDatabase } from '../support/ledger-database';

/** Resolves to a function that puts the definition back. */
export async function mutate(
  database: LedgerDatabase,
  name: string,
  from: string,
  to: string,
): Promise<() => Promise<unknown>> {
  const [row] = await database.query<{ definition: string }>('SELECT pg_get_functiondef($1::regproc) AS definition', [
    name,
  ]);
  const definition = row?.definition ?? '';
  const parts = definition.split(from);
  if (parts.length !== 2) throw new Error(`${name} holds ${parts.length - 1} times, not once: ${from}`);
  await database.query(parts.join(to));
  return () => database.query(definition);
}
