import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { provideChromium } from './chromium.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-chromium-'));
  await writeFile(join(folder, 'chromium'), '#!/bin/sh\n');
  await chmod(join(folder, 'chromium'), 0o755);
  await writeFile(join(folder, 'notes.txt'), 'not a browser');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('CHROMIUM_PATH takes precedence over a Chromium on the PATH', async () => {
  const named = await provideChromium({ env: { CHROMIUM_PATH: join(folder, 'chromium'), PATH: '/nowhere' } });
  expect(named.executablePath).toBe(join(folder, 'chromium'));
});

test('a CHROMIUM_PATH that cannot be run is an error, not a reason to look elsewhere', async () => {
  const env = { CHROMIUM_PATH: join(folder, 'notes.txt'), PATH: folder };
  await expect(provideChromium({ env })).rejects.toThrow(/CHROMIUM_PATH names .*notes\.txt/);
});

test('Chromium is found on the PATH, and gets the options for headless use without background requests', async () => {
  const { executablePath, args } = await provideChromium({ env: { PATH: `:${folder}` } });
  expect(executablePath).toBe(join(folder, 'chromium'));
  expect(args).toEqual(expect.arrayContaining(['--headless=new', '--disable-background-networking']));
  expect(args.includes('--no-sandbox')).toBe(process.getuid?.() === 0);
});
