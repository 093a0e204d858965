import { describe, expect, test } from 'vitest';
import { readDatabaseConfig } from '../../../runtime/config';
import { entraScope } from '../../../runtime/ops/entra-token';
import { ledgerConnection } from '../../../runtime/ops/ledger-connection';

describe('a token is asked for', () => {
  test.each([
    ['contoso.postgres.database.azure.com', 'https://ossrdbms-aad.database.windows.net/.default'],
    ['contoso.private.postgres.database.azure.com', 'https://ossrdbms-aad.database.windows.net/.default'],
    ['10.0.0.4', 'https://ossrdbms-aad.database.windows.net/.default'],
    ['Contoso.Postgres.database.usgovcloudapi.net', 'https://ossrdbms-aad.database.usgovcloudapi.net/.default'],
    ['contoso.postgres.database.chinacloudapi.cn', 'https://ossrdbms-aad.database.chinacloudapi.cn/.default'],
  ])('for %s: %s', (host, scope) => {
    expect(entraScope(host)).toBe(scope);
  });
});

describe('what to do about a refused login', () => {
  const help = async (more: Record<string, string>) => {
    const settings = { PGHOST: 'db', PGDATABASE: 'ledger', PGUSER: 'usage-worker', DATABASE_AUTH: 'entra', ...more };
    const read = readDatabaseConfig(settings);
    if (!read.ok) throw new Error(read.problems.join());
    return (await ledgerConnection(read.config)).loginHelp;
  };

  test('is our command with its flags, and the identity it is about', async () => {
    const AZURE_CLIENT_ID = 'c1e7a000-0000-4000-8000-000000000001';
    expect(await help({ AZURE_CLIENT_ID })).toBe(
      `The role usage-worker must exist and be mapped to the identity of this process (AZURE_CLIENT_ID=${AZURE_CLIENT_ID}). ` +
        'That is made, by a Microsoft Entra administrator of the server, with: chargeonce migrate --apply ' +
        '--worker-role usage-worker --worker-auth entra --worker-principal <object id of the identity>',
    );
  });

  test('is the command that was said, which has the flags', async () => {
    expect(await help({ MIGRATE_COMMAND: 'az containerapp job start --name x' })).toMatch(
      /identity of this process\. .* with: az containerapp job start --name x$/,
    );
  });
});
