/**
 * Two local runs that start together build the same bundles: the second took the first one's new file away, and the first
 * ended with ENOENT. The kind: every file or folder that is made under another name and renamed when it is complete.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { replaceFiles } from '../../runtime/image/replace-files';
import { keepFolder } from '../support/kept-folder';

/** What another process does at the very moment when one is about to rename. */
let meanwhile: (() => void) | undefined;
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const renameSync: typeof fs.renameSync = (from, to) => {
    const now = meanwhile;
    meanwhile = undefined;
    now?.();
    fs.renameSync(from, to);
  };
  return { ...fs, renameSync };
});

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'chargeonce-test-')), 'image');
});
afterEach(() => {
  meanwhile = undefined;
  rmSync(join(folder, '..'), { recursive: true, force: true });
});

const files = (text: string) => new Map(['chargeonce.js', 'Dockerfile'].map((name) => [name, Buffer.from(text)]));
const content = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]);

describe('two builds at once', () => {
  it('both end, and leave the files of one of them and nothing else', () => {
    let other = 0;
    meanwhile = () => {
      replaceFiles(folder, files('other'));
      other += 1;
    };
    replaceFiles(folder, files('one'));
    expect(other).toBe(1);
    expect(content()).toEqual([
      ['Dockerfile', 'one'],
      ['chargeonce.js', 'one'],
    ]);
    expect(readdirSync(join(folder, '..'))).toEqual(['image']);
  });

  it('twin: with one name for the new file of both, the first ends with ENOENT', () => {
    const shared = (text: string) => {
      mkdirSync(folder, { recursive: true });
      const file = join(folder, 'chargeonce.js');
      writeFileSync(`${file}.new`, text);
      renameSync(`${file}.new`, file);
    };
    meanwhile = () => shared('other');
    expect(() => shared('one')).toThrow('ENOENT');
  });

  it('does not hide that a folder cannot be written', () => {
    writeFileSync(folder, 'a file in its place');
    expect(() => replaceFiles(folder, files('one'))).toThrow('EEXIST');
  });
});

describe('a folder that is made once', () => {
  const made = (text: string) => {
    const fresh = mkdtempSync(`${folder}.new-`);
    writeFileSync(join(fresh, 'text'), text);
    return fresh;
  };

  it('is the first one’s, also when both found none', () => {
    meanwhile = () => keepFolder(made('other'), folder);
    keepFolder(made('one'), folder);
    expect(content()).toEqual([['text', 'other']]);
  });

  it('twin: renamed after a look, the second ends with ENOTEMPTY', () => {
    meanwhile = () => keepFolder(made('other'), folder);
    expect(() => renameSync(made('one'), folder)).toThrow('ENOTEMPTY');
  });

  it('is missed when it could not be made', () => {
    expect(() => keepFolder(`${folder}.nowhere`, folder)).toThrow('ENOENT');
  });
});
