/**
 * One PostgreSQL server for a suite, with a migrated database that tests copy. CHARGEONCE_TEST_PG names a server to use
 * instead, by the url of its superuser.
 */
import { migrate } from '../../runtime/ledger';
import { startPostgres } from '../emulators/postgres';
import { createDatabase, databaseUrl, dropDatabase } from './ledger-database';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The server, by the url of its superuser. */
    postgresUrl: string;
    /** The migrated database that copies are made of. */
    postgresTemplate: string;
  }
}

/** The part of vitest's project that is used; its own type cannot be imported by both the compiler and the linter. */
interface SuiteProject {
  readonly name: string;
  provide(key: 'postgresUrl' | 'postgresTemplate', value: string): void;
}

export default async function setUp(project: SuiteProject): Promise<() => Promise<void>> {
  const given = process.env.CHARGEONCE_TEST_PG;
  const server = given ? undefined : await startPostgres();
  const serverUrl = given ?? server?.url('postgres') ?? '';
  const template = `chargeonce_template_${process.pid}_${project.name}`;
  try {
    await createDatabase(serverUrl, template);
    await migrate({ connection: { url: databaseUrl(serverUrl, template) } });
  } catch (error) {
    await server?.stop();
    throw error;
  }
  project.provide('postgresUrl', serverUrl);
  project.provide('postgresTemplate', template);
  return async () => {
    if (server) await server.stop();
    else await dropDatabase(serverUrl, template);
  };
}
