/** A machine without Python is told what is missing. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PythonMissing, pythonEnvironment } from './python';

describe('where Python is not what is needed', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'chargeonce-python-'));
    vi.stubEnv('PATH', folder);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  /** A `python3` that answers like this. */
  const python = (version: string, otherwise: string) =>
    writeFileSync(
      join(folder, 'python3'),
      `#!/bin/sh\nif [ "$1" = --version ]; then echo "${version}"; else ${otherwise}; fi\n`,
      { mode: 0o755 },
    );

  it('because there is none', async () => {
    await expect(pythonEnvironment('requirements.txt')).rejects.toThrow(/There is no `python3`.*install python3/);
  });

  it('because it is too old', async () => {
    python('Python 3.9.18', 'exit 0');
    await expect(pythonEnvironment('requirements.txt')).rejects.toThrow(/"Python 3.9.18".*needs Python >= 3\.10/);
  });

  it('because it makes no environments', async () => {
    python('Python 3.12.99', 'echo "ensurepip is not available" >&2; exit 1');
    const made = pythonEnvironment('requirements.txt');
    await expect(made).rejects.toThrow(/install python3-venv.*\n.*ensurepip is not available/);
    await expect(made).rejects.toBeInstanceOf(PythonMissing);
  });
});
