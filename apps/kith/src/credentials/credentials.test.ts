import { existsSync } from 'node:fs';
import { mkdtempDisposable, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { ensureCredentials } from './credentials.ts';

const dayMs = 24 * 3600_000;
afterEach(() => void vi.useRealTimers());

it.each([
  ['has expired', -11 * 365],
  ['is not valid yet', 2],
])(
  'if the certificate of an authority %s, the authority is refused, and made again after its key is removed',
  async (_, days) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-credentials-'));
    const ensure = () => ensureCredentials(folder.path, { prefix: 'kith', monitorHost: '127.0.0.1' });
    vi.useFakeTimers({ now: Date.now() + days * dayMs, toFake: ['Date'] });
    const { ca } = await ensure();
    vi.useRealTimers();
    const key = join(folder.path, 'ca', 'key.pem');
    const refused = await ensure().catch((error: Error) => error);
    expect(refused).toMatchObject({ name: 'StartError', message: expect.stringContaining(`remove ${key}`) });
    expect(existsSync(key)).toBe(true);
    await rm(key);
    expect((await ensure()).ca).not.toBe(ca);
    expect(await readFile(join(folder.path, 'ca', 'cert.pem'), 'utf8')).not.toBe(ca);
  },
);
