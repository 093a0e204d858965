import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GoMissing, pulumiCli } from './cli';

describe('what is said where Pulumi cannot be built', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'chargeonce-go-'));
    vi.stubEnv('PATH', folder);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A Go that says this version, and builds nothing. */
  const install = (version: string) => {
    const script = `#!/bin/sh\nif [ "$1" = env ]; then echo ${version}; else echo "proxy: no route" >&2; exit 1; fi\n`;
    writeFileSync(join(folder, 'go'), script, { mode: 0o755 });
  };
  const refusal = async () => {
    const error: unknown = await pulumiCli().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(GoMissing);
    return (error as GoMissing).message;
  };

  it('there is no Go', async () => {
    expect(await refusal()).toMatch(/there is no Go\. Install Go 1\.25\.11 or newer \(https:\/\/go\.dev\/dl\/\)/);
  });

  it.each(['go1.24.9', 'go1.25', 'go1.25.10'])('Go is too old: %s', async (version) => {
    install(version);
    expect(await refusal()).toContain(`1.25.11 or newer; here it is ${version}. Install Go`);
  });

  it.each(['go1.25.11', 'go1.26', 'go2.0.1'])('Go is new enough, and the build fails: %s', async (version) => {
    install(version);
    const message = await refusal();
    expect(message).toContain(`cannot be built with ${version}`);
    expect(message).toMatch(/In test\/deploy-azure\/cli: go build -mod=readonly .* '-s -w -X .*=v3\.248\.0'/);
    expect(message).toContain('proxy: no route');
  });
});
