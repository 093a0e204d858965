/** The conditions that checkpoint stores rely on, as Microsoft's own client sees them. */
import { BlobServiceClient } from '@azure/storage-blob';
import { expect, it } from 'vitest';
import { until } from '../support/until';
import { startBlobStorage } from './blob-storage';

it('honours If-None-Match and If-Match, and ends when it is told to', async () => {
  const storage = await startBlobStorage();
  const container = BlobServiceClient.fromConnectionString(storage.connectionString).getContainerClient('checkpoints');
  await container.create();
  const blob = container.getBlockBlobClient('usage/checkpoint/0');
  const first = await blob.upload('', 0, { conditions: { ifNoneMatch: '*' } });
  await expect(blob.upload('', 0, { conditions: { ifNoneMatch: '*' } })).rejects.toMatchObject({ statusCode: 409 });
  await blob.setMetadata({ offset: '1' }, { conditions: { ifMatch: first.etag! } });
  await expect(blob.setMetadata({ offset: '0' }, { conditions: { ifMatch: first.etag! } })).rejects.toMatchObject({
    statusCode: 412,
  });
  await storage.stop();
  await until('the process is gone', () => !isAlive(storage.pid));
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
