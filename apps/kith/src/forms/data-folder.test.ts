import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '@kith/base';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openDataFolder } from './data-folder.ts';

describe('a data folder', () => {
  let path: string;
  beforeEach(() => {
    const above = mkdtempSync(join(tmpdir(), 'kith-data-folder-'));
    onTestFinished(() => rmSync(above, { recursive: true, force: true }));
    path = join(above, 'deep', 'down');
  });
  const taken = (who: string) =>
    new StartError(`${who} uses the data folder ${path}; stop it, or set KITH_DATA to another folder.`);

  it('is made with those above it, its owner’s alone', () => {
    openDataFolder(path).release();
    for (const made of [path, join(path, '..')]) expect(statSync(made).mode & 0o777).toBe(0o700);
  });

  it('is one process’s, which says where it is up', () => {
    const folder = openDataFolder(path);
    expect(() => openDataFolder(path)).toThrow(taken('Another Kith process'));
    folder.announce('http://127.0.0.1:4000');
    expect(() => openDataFolder(path)).toThrow(taken('Another Kith is up at http://127.0.0.1:4000 and'));
    folder.release();
    expect(existsSync(join(path, 'address'))).toBe(false);
  });

  it('forgets the address of a process that was killed', () => {
    openDataFolder(path).release();
    writeFileSync(join(path, 'address'), 'http://127.0.0.1:4000\n');
    const folder = openDataFolder(path);
    expect(() => openDataFolder(path)).toThrow(taken('Another Kith process'));
    folder.release();
  });
});
