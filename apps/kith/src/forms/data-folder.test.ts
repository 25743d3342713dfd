import { chmodSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '@kith/base';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { asStranger } from '../../../../tests/support/as-stranger.ts';
import { openDataFolder } from './data-folder.ts';
import { machineId } from './machine.ts';
import { runningIn } from './running.ts';

/** The message of the StartError that a call throws. */
function messageOf(call: () => unknown): string {
  try {
    call();
    return '';
  } catch (error) {
    return error instanceof StartError ? error.message : String(error);
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

  it('the folder is made together with missing folders above it, and only its owner can enter them', () => {
    openDataFolder(path).release();
    for (const made of [path, join(path, '..')]) expect(statSync(made).mode & 0o777).toBe(0o700);
  });

  const url = 'http://127.0.0.1:4000';
  const record = { form: 'embedded', url, services: { gateway: 'http://127.0.0.1:4001' } } as const;

  it('only one process can open the folder, and the folder records the address of this process', () => {
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

  it('the folder forgets the address of a process that was killed', () => {
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

  it('a folder of another user gives an error that names this user, and is not taken for an unused folder', () => {
    openDataFolder(path).release();
    for (const above of ['..', '../..']) chmodSync(join(path, above), 0o755);
    const says = asStranger(path, () => [
      messageOf(() => runningIn(path)),
      messageOf(() => openDataFolder(path)),
    ]);
    // Only root can become another user. If this test does not run as root, `asStranger` only makes the folder inaccessible.
    const whose =
      process.getuid?.() === 0 ? ' It belongs to user 0, but this process runs as user 65534.' : '';
    expect(says).toEqual([
      expect.stringContaining(`The data folder ${path} cannot be read: EACCES`),
      `The data folder ${path} cannot be written to: unable to open database file.${whose}`,
    ]);
  });

  it('if a process on another machine uses the folder, the error names this machine', () => {
    const folder = openDataFolder(path);
    const other = { ...folder.announce(record), host: 'elsewhere', machine: 'another' };
    folder.write('running.json', JSON.stringify(other));
    expect(() => runningIn(path)).toThrow(
      new StartError(`The installation in ${path} runs on elsewhere. Run the command there.`),
    );
    folder.release();
  });

  it.runIf(machineId())('a process is found on its own machine even after the host name has changed', () => {
    const folder = openDataFolder(path);
    const renamed = { ...folder.announce(record), host: 'elsewhere' };
    folder.write('running.json', JSON.stringify(renamed));
    expect(runningIn(path)).toEqual(renamed);
    folder.release();
  });
});
