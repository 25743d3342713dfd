// Starts no platform and at most 4 processes.
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { isRunning } from './handle.ts';

afterEach(() => void vi.unstubAllEnvs());

test.each([
  ['a container runs', 'echo true', true],
  ['a container has ended', 'echo false', false],
  ['there is no container', 'echo "error: no such object: kith-mongo" >&2; exit 1', false],
  ['Docker does not answer', 'echo "Cannot connect to the Docker daemon" >&2; exit 1', true],
])('%s', async (_, script, expected) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-docker-'));
  await writeFile(join(folder.path, 'docker'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  vi.stubEnv('PATH', `${folder.path}:${process.env.PATH}`);
  expect(await isRunning('kith-mongo')).toBe(expected);
});
