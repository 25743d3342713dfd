import { chmod, mkdtempDisposable, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '@kith/base';
import { describe, expect, it } from 'vitest';
import { asStranger } from '../../../../tests/support/as-stranger.ts';
import { draftFolderIn, makeDraftFolder } from './draft-folder.ts';

const isRoot = process.geteuid?.() === 0;

describe('the folder for images that are being rendered', () => {
  it('is in the data folder, or, without a data folder, separate for each user', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-draft-folder-'));
    expect(draftFolderIn(folder.path)).toBe(join(folder.path, 'drafts'));
    const own = draftFolderIn(undefined);
    expect(own).toBe(join(tmpdir(), `kith-drafts-${process.geteuid?.()}`));
    // Only root can run code as another user, so this is checked only if root runs the test.
    if (isRoot) expect(asStranger(folder.path, () => draftFolderIn(undefined))).not.toBe(own);
  });

  it('is created so that only its owner can use it, and may already exist', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-draft-folder-'));
    const path = join(folder.path, 'drafts');
    for (let time = 0; time < 2; time++) await makeDraftFolder(path);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  it('must be writable, otherwise the service does not start', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-draft-folder-'));
    const path = join(folder.path, 'drafts');
    const refusal = (code: string) =>
      new StartError(
        `The folder for images that are being rendered, ${path}, cannot be written to (${code}).`,
      );
    if (!isRoot) {
      await makeDraftFolder(path);
      await chmod(path, 0o500);
      await expect(makeDraftFolder(path)).rejects.toThrow(refusal('EACCES'));
      return;
    }
    // Root may write to every folder. So if root runs this test, the test makes a file at the folder's path, which cannot be
    // used as a folder.
    await writeFile(path, 'not a folder');
    await expect(makeDraftFolder(path)).rejects.toThrow(refusal('EEXIST'));
  });
});
