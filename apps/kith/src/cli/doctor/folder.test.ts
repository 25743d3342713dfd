// Starts no platform and no process.
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { asStranger } from '../../../../../tests/support/as-stranger.ts';
import { checkFolder } from './folder.ts';
import { checkClock } from './machine.ts';

it('a folder of another user is reported as unusable, and makes no other check fail', async () => {
  await using above = await mkdtempDisposable(join(tmpdir(), 'kith-folder-'));
  const { path } = above;
  const [{ findings, isUsable }, [clock]] = asStranger(path, () => [checkFolder(path), checkClock(path)]);
  expect([isUsable, clock?.state]).toEqual([false, expect.stringMatching(/^(ok|warning)$/)]);
  expect(findings.at(-1)).toMatchObject({
    state: 'wrong',
    says: expect.stringContaining(`${path} cannot be used by this user: EACCES`),
    mend: 'Run kith doctor as the user that Kith runs as. Make this user the owner of the folder.',
  });
});
