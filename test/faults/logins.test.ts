/** The bundle logs in to the ledger as its settings say, whatever becomes of passwords and tokens meanwhile. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrate } from '../../runtime/ledger';
import { type AwsLocal, startAwsLocal } from '../support/aws-local';
import { startManagedPostgres } from '../support/managed-postgres';
import { startRdsEndpoint } from '../support/rds/endpoint';
import { startSecretsManager } from '../support/secrets-manager';
import { until } from '../support/until';
import { type WorkerWorld, workerWorld } from '../support/worker-world';

let aws: AwsLocal;
let world: WorkerWorld;
beforeAll(async () => {
  aws = await startAwsLocal();
});
beforeEach(async () => {
  world = await workerWorld(aws);
});
afterEach(() => world.close());
afterAll(() => aws.stop());

describe('a worker', () => {
  it('goes on after its secret was rotated, with what the secret says then', async () => {
    const arn = 'arn:aws:secretsmanager:us-east-1:123456789012:secret:ledger-AbCdEf';
    const user = `worker_${randomBytes(6).toString('hex')}`;
    const manager = await startSecretsManager();
    const rotate = async (password: string) => {
      await world.database.query(`ALTER ROLE ${user} PASSWORD '${password}'`);
      manager.secrets.set(arn, JSON.stringify({ username: user, password }));
    };
    try {
      await migrate({ connection: { url: world.database.url }, workerRole: { name: user } });
      await rotate('first-password');
      const { host, pathname } = new URL(world.database.url);
      const worker = await world.startWorker({
        DATABASE_URL: `postgres://${host}${pathname}`,
        DATABASE_SECRET_ARN: arn,
        AWS_ENDPOINT_URL_SECRETS_MANAGER: manager.endpoint,
      });
      await worker.ready(30_000);
      await world.publish([{ customer: 'before' }]);
      await world.charged(1);
      await rotate('second-password');
      await world.database.query('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = $1', [
        user,
      ]);
      await world.publish([{ customer: 'after' }]);
      await world.charged(2);
      expect(await worker.stop(30_000)).toEqual({ code: 0, signal: null });
      expect(new Set(manager.reads)).toEqual(new Set([arn]));
      expect(worker.tail()).not.toMatch(/(first|second)-password/);
    } finally {
      await world.database.query(`DROP OWNED BY ${user}; DROP ROLE ${user}`);
      await manager.stop();
    }
  });

  it('waits for the role that it logs in with, and for a token that is taken, and says what to run', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'chargeonce-logins-'));
    const managed = await startManagedPostgres();
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    const endpoint = await startRdsEndpoint({
      server: managed.server,
      region: 'us-east-1',
      credentials: [credentials],
    });
    try {
      const workerRole = { name: 'chargeonce_worker', auth: 'rds-iam' } as const;
      writeFileSync(join(folder, 'ca.pem'), endpoint.authority.pem);
      const worker = await world.startWorker({
        DATABASE_URL: '',
        DATABASE_AUTH: 'rds-iam',
        PGHOST: endpoint.host,
        PGPORT: String(endpoint.port),
        PGDATABASE: 'chargeonce',
        PGUSER: workerRole.name,
        PGSSLMODE: 'verify-full',
        PGSSLROOTCERT: join(folder, 'ca.pem'),
        MIGRATE_COMMAND: 'aws ecs run-task --task-definition migrate',
      });
      await until('it says what to run', () => worker.tail().includes('That is made by: aws ecs run-task'));
      endpoint.refuse(1_000);
      await migrate({ connection: { url: managed.ownerUrl }, workerRole });
      await until('it was refused three times', () => endpoint.logins.length > 3);
      const response = await fetch(`http://127.0.0.1:${worker.port}/readyz`);
      expect(response.status).toBe(503);
      expect(worker.tail()).toContain('must be allowed rds-db:connect as chargeonce_worker');
      endpoint.refuse(0);
      await worker.ready(30_000);
      const logs = worker.tail();
      for (const { token } of endpoint.logins) expect(logs).not.toContain(token.slice(-32));
      expect(await worker.stop(30_000)).toEqual({ code: 0, signal: null });
    } finally {
      await endpoint.stop();
      await managed.stop();
      rmSync(folder, { recursive: true });
    }
  });
});
