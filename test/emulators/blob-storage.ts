/** Blob storage on this machine: Microsoft's Azurite as a child process, in memory, on loopback and a free port. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningEmulator } from './kinesis';

export interface RunningBlobStorage extends RunningEmulator {
  /** For Microsoft's clients. */
  readonly connectionString: string;
}

/** Azurite's published development account. */
const ACCOUNT = 'devstoreaccount1';
const KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

const LISTENING = /successfully listens on (http:\/\/127\.0\.0\.1:\d+)/;

export async function startBlobStorage(): Promise<RunningBlobStorage> {
  const folder = mkdtempSync(join(tmpdir(), 'chargeonce-azurite-'));
  const child = spawn(
    process.execPath,
    [
      require.resolve('azurite/dist/src/blob/main.js'),
      ...['--blobHost', '127.0.0.1', '--blobPort', '0'],
      ...['--inMemoryPersistence', '--disableTelemetry', '--skipApiVersionCheck', '--disableProductStyleUrl'],
    ],
    { cwd: folder, env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  let said = '';
  try {
    const endpoint = await new Promise<string>((resolve, reject) => {
      const hear = (chunk: Buffer) => {
        said = `${said}${chunk}`.slice(-4_000);
        const [, address] = LISTENING.exec(said) ?? [];
        if (address !== undefined) resolve(address);
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`Azurite ended with ${code} before it listened: ${said}`)));
    });
    const connectionString =
      `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${KEY};` +
      `BlobEndpoint=${endpoint}/${ACCOUNT};`;
    return { endpoint, connectionString, pid: child.pid ?? 0, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
