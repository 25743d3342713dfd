// Quick counterpart: tests/installing.test.ts
// Starts no platform and at most 3 processes.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { StartFile } from '@kith/platform';
import { expect, it } from 'vitest';
import { cloneRepository } from './support/repository-copy.ts';
import { curlLines, startByKith } from './support/start-script.ts';

const run = promisify(execFile);

/** The folders of third-party packages in a `node_modules`. Our own packages are links there, not folders. */
async function packagesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const folders = entries.filter((one) => one.isDirectory() && !one.name.startsWith('.'));
  const found = folders.map(async ({ name }) => {
    const path = join(folder, name);
    return name.startsWith('@')
      ? packagesIn(path)
      : [path, ...(await packagesIn(join(path, 'node_modules')))];
  });
  return (await Promise.all(found)).flat();
}

/** The disk space of a folder, in bytes. */
async function sizeOf(folder: string): Promise<number> {
  const paths = await readdir(folder, { recursive: true });
  const sizes = paths.map(async (path) => (await lstat(join(folder, path))).blocks * 512);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** What npm may need to reach its registry: a proxy, and the authority of the proxy's certificate. */
const { HTTPS_PROXY, NODE_EXTRA_CA_CERTS, npm_config_registry } = process.env;
const network = { HTTPS_PROXY, NODE_EXTRA_CA_CERTS, npm_config_registry };

it('a fresh clone runs with at most 130 packages and 185 MB, and does not download Node', async () => {
  await using copy = await cloneRepository();
  await using data = await mkdtempDisposable(join(tmpdir(), 'kith-data-'));
  await using kith = await startByKith({
    folder: copy.path,
    env: { ...network, KITH_DATA: data.path, PORT: '0', INTERNAL_PORT: '0' },
    until: 'Ctrl-C ends it',
  });
  expect(kith.output()).toContain('Kith is up');

  const modules = join(copy.path, 'node_modules');
  const packages = await packagesIn(modules);
  expect(packages.length).toBeGreaterThan(60);
  expect(packages.length).toBeLessThanOrEqual(130);
  expect(await sizeOf(modules)).toBeLessThanOrEqual(185e6);
  expect(existsSync(join(copy.path, 'tools/node/node_modules'))).toBe(false);

  // Does what people do first: sends the printed request, opens the reference page, and runs a command.
  const [line = ''] = curlLines(kith.output());
  expect(JSON.parse((await run('bash', ['-c', line])).stdout).connections).toHaveLength(1);
  const start: StartFile = JSON.parse(await readFile(join(data.path, 'start.json'), 'utf8'));
  for (const path of ['/docs', '/docs/swagger-ui.js', '/openapi.json'])
    expect((await fetch(`${start.url}${path}`)).status, path).toBe(200);
  const command = [join(modules, '.bin/kith'), 'projects', 'list', '--json'];
  const { stdout, stderr } = await run(process.execPath, command, {
    env: { PATH: process.env.PATH, KITH_URL: start.url, OPERATOR_TOKEN: start.operatorToken },
  });
  expect(JSON.parse(stdout)).toMatchObject([{ id: start.projectId }]);
  // The command has printed nothing on stderr, so it has not installed the packages again.
  expect(stderr).toBe('');
}, 300_000);
