import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '@kith/base';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { asStranger } from '../../../../tests/support/as-stranger.ts';
import { openDataFolder } from './data-folder.ts';
import { runningIn } from './running.ts';

function thrownBy(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}

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

  const url = 'http://127.0.0.1:4000';
  const record = { form: 'embedded', url, services: { gateway: 'http://127.0.0.1:4001' } } as const;

  it('is one process’s, which says where it is up', () => {
    const folder = openDataFolder(path);
    expect(() => openDataFolder(path)).toThrow(taken('Another Kith process'));
    expect(runningIn(path)).toBeUndefined();
    const announced = folder.announce(record);
    expect(announced).toMatchObject({ ...record, pid: process.pid });
    expect(runningIn(path)).toEqual(announced);
    expect(() => openDataFolder(path)).toThrow(taken(`Another Kith is up at ${url} and`));
    folder.release();
    expect(runningIn(path)).toBeUndefined();
    expect(existsSync(join(path, 'running.json'))).toBe(false);
  });

  it('forgets the address of a process that was killed', () => {
    const killed = openDataFolder(path);
    killed.announce(record);
    const left = killed.read('running.json') ?? '';
    killed.release();
    killed.write('running.json', left);
    expect(runningIn(path)).toBeUndefined();
    const folder = openDataFolder(path);
    expect(() => openDataFolder(path)).toThrow(taken('Another Kith process'));
    expect(runningIn(path)).toBeUndefined();
    folder.release();
  });

  it('of another user is not taken for one on which nothing runs', () => {
    openDataFolder(path).release();
    const asked = asStranger(path, () => [thrownBy(() => runningIn(path)), thrownBy(() => openDataFolder(path))]);
    for (const error of asked) {
      expect(error).toBeInstanceOf(StartError);
      expect((error as Error).message).toContain(`The data folder ${path} cannot be `);
    }
  });

  it('of a process on another machine is not spoken to from here', () => {
    const folder = openDataFolder(path);
    folder.write('running.json', JSON.stringify({ ...folder.announce(record), host: 'elsewhere' }));
    expect(() => runningIn(path)).toThrow(
      new StartError(`The installation in ${path} runs on elsewhere; give the command there.`),
    );
    folder.release();
  });
});
