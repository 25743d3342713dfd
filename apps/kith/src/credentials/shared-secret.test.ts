import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { beginSecretChange, endSecretChange, secretReaders, shareSecret } from './shared-secret.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-secret-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The current and the previous secret. Fails if two readers have different secrets. */
const told = async () => {
  const names = [...secretReaders, 'operator'];
  const files = names.flatMap((name) =>
    ['secret', 'previous-secret'].map((file) => join(folder, name, file)),
  );
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  for (const [at, text] of texts.entries()) expect(text, files[at]).toBe(texts[at % 2]);
  return texts.slice(0, 2);
};

it('all readers get the same secret, and a setup that runs again keeps the secret', async () => {
  shareSecret(folder);
  const [secret = '', before] = await told();
  expect([secret.length >= 32, before]).toEqual([true, '']);
  shareSecret(folder);
  expect(await told()).toEqual([secret, '']);
});

it('a change gives all readers the new secret, and keeps the previous secret until the change ends', async () => {
  shareSecret(folder);
  const [first] = await told();
  expect(beginSecretChange(folder)).toBe(true);
  const [second] = await told();
  expect(second).not.toBe(first);
  expect(await told()).toEqual([second, first]);
  // A second call of `beginSecretChange` loses no secret. The same is true for a second setup, because the setup runs at each
  // start.
  expect(beginSecretChange(folder)).toBe(false);
  shareSecret(folder);
  expect(await told()).toEqual([second, first]);
  endSecretChange(folder);
  shareSecret(folder);
  expect(await told()).toEqual([second, '']);
});

it('if a call has died before it made the new secret, the next call makes the new secret', async () => {
  shareSecret(folder);
  const [first] = await told();
  await writeFile(join(folder, 'gateway', 'previous-secret'), first ?? '');
  expect(beginSecretChange(folder)).toBe(true);
  const [second] = await told();
  expect(second).not.toBe(first);
  expect(await told()).toEqual([second, first]);
});
