import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runRotateSecrets } from './run-rotate.ts';

const secret = 'the only secret that opens the data of this folder';
let KITH_DATA: string;
beforeEach(() => {
  KITH_DATA = mkdtempSync(join(tmpdir(), 'kith-rotate-'));
  writeFileSync(join(KITH_DATA, 'secret'), secret);
  writeFileSync(join(KITH_DATA, 'identity.sqlite'), '');
});
afterEach(() => rmSync(KITH_DATA, { recursive: true, force: true }));

const rotate = (env: NodeJS.ProcessEnv) =>
  runRotateSecrets(
    { words: [], options: {} },
    { env: { KITH_DATA, ...env }, commands: [], progress: () => undefined },
  );

it.each(['KITH_SECRET_FILE', 'KITH_SECRET_PREVIOUS_FILE'])(
  'a rotation refuses a %s that names a file of the data folder, and keeps the file',
  async (name) => {
    const link = join(KITH_DATA, 'link');
    symlinkSync(join(KITH_DATA, 'secret'), link);
    for (const file of [join(KITH_DATA, 'secret'), link]) {
      await expect(rotate({ [name]: file })).rejects.toThrow(
        `${name}: ${file} is the data folder's own file`,
      );
      expect(readFileSync(join(KITH_DATA, 'secret'), 'utf8')).toBe(secret);
    }
  },
);

it('a rotation to a secret outside of the data folder removes the secret in the folder', async () => {
  const KITH_SECRET_FILE = join(KITH_DATA, 'copied');
  writeFileSync(KITH_SECRET_FILE, secret);
  await rotate({ KITH_SECRET_FILE });
  expect(() => readFileSync(join(KITH_DATA, 'secret'))).toThrow('ENOENT');
});
