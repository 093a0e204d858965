/** Blob storage on this machine: Microsoft's Azurite as a child process, in memory, on loopback and a free port. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { peer } from './peer';

export interface RunningBlobStorage {
  /** Of the blob service, without the account: `http://127.0.0.1:<port>`. */
  readonly endpoint: string;
  /** For Microsoft's clients. */
  readonly connectionString: string;
  /** Of Azurite's process, which ends with the one that started it. */
  readonly pid: number;
  /** Ends it; what was stored is gone. */
  stop(): Promise<void>;
}

/** Azurite's published development account. */
const ACCOUNT = 'devstoreaccount1';
const KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

const LISTENING = /successfully listens on (http:\/\/127\.0\.0\.1:\d+)/;

/** Ends the process when its parent is gone, however that ended. */
const PRELUDE = "process.on('disconnect', () => process.kill(process.pid, 'SIGKILL')); require(process.argv[1]);";

/**
 * Starts it and waits until it listens.
 * @throws when `azurite` is not installed, or when it ends before it listens
 */
export async function startBlobStorage(): Promise<RunningBlobStorage> {
  const azurite = peer('azurite', 'startBlobStorage', () => require.resolve('azurite/dist/src/blob/main.js'));
  const folder = mkdtempSync(join(tmpdir(), 'chargeonce-azurite-'));
  const options = ['--inMemoryPersistence', '--disableTelemetry', '--skipApiVersionCheck', '--disableProductStyleUrl'];
  const child = spawn(
    process.execPath,
    ['-e', PRELUDE, '--', azurite, '--blobHost', '127.0.0.1', '--blobPort', '0', ...options],
    { cwd: folder, env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
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
      child.stdout?.on('data', hear);
      child.stderr?.on('data', hear);
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
