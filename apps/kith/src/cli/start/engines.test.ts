// Starts no platform and no process.
import { mkdir, mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dataFolder } from '../../forms/data-folder.ts';
import { installationIn } from './engines.ts';

it.each([
  ['a new folder', [], false],
  ['a folder of the embedded form', ['files', 'mail'], false],
  ['a folder in which an earlier version has run engines', ['credentials', 'logs'], true],
  ['a folder in which an earlier version has run plain engines', ['logs'], true],
])('%s keeps the installation that the first start has recorded in the folder', async (_, parts, isOlder) => {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'kith-installation-'));
  const folder = dataFolder(temporary.path);
  for (const name of parts) await mkdir(folder.file(name));
  const installation = installationIn(folder);
  expect(installation).toEqual({ id: expect.any(String), folder: folder.path, isOlder });
  // The first start makes these folders after it has recorded the installation.
  for (const name of ['credentials', 'logs']) await mkdir(folder.file(name), { recursive: true });
  expect(installationIn(folder)).toEqual(installation);
});
