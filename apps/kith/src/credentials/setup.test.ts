// Starts no platform and at most 3 processes.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('setup.ts', import.meta.url));

test('a setup changes no certificate if it does not find the certificates that were given earlier', async () => {
  const above = mkdtempSync(join(tmpdir(), 'kith-setup-'));
  try {
    const [folder, given] = [join(above, 'credentials'), join(above, 'certificates')];
    mkdirSync(given);
    const names = ['ca', 'nats', 'mongo', 'redis'];
    for (const name of names) writeFileSync(join(given, `${name}.pem`), `the file of ${name}`);
    const { CERTIFICATES: _, ...env } = process.env;
    const setUp = (more: NodeJS.ProcessEnv) =>
      promisify(execFile)(process.execPath, [script, folder], { env: { ...env, ...more } });
    await setUp({ CERTIFICATES: given });
    await expect(setUp({ CERTIFICATES: join(above, 'empty') })).rejects.toThrow('Name their folder again');
    await setUp({ CERTIFICATES: given });
    expect(readFileSync(join(folder, 'server', 'tls.pem'), 'utf8')).toBe('the file of nats');
    expect(readFileSync(join(folder, 'identity', 'ca.pem'), 'utf8')).toBe('the file of ca');
  } finally {
    rmSync(above, { recursive: true });
  }
});
