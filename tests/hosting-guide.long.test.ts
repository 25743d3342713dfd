// Quick counterpart: tests/guides.test.ts
// Starts at most 1 platform and 12 processes.
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@kith/engines';
import { compileCache, selfSigned } from '@kith/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { followGuide } from './support/follow-guide.ts';
import { type Block, readBlocks } from './support/guide.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * Scripts that replace programs of the machine, such as `useradd` and `systemctl`. They create no user, and they start services
 * as the unit files say.
 */
const programs: Readonly<Record<string, string>> = {
  useradd: 'true',
  chown: 'true',
  chgrp: 'true',
  sudo: 'shift 2; exec "$@"',
  systemctl: `
for word; do case "$word" in
  *.timer|caddy|daemon-reload) exit 0 ;;
  kith) unit=kith.service; mode=background ;;
  *.service) unit="$word"; mode=wait ;;
esac; done
file="$UNITS/$unit"
value() { sed -n "s/^$1=//p" "$file"; }
cd "$(value WorkingDirectory)"
set -a; . "$(value EnvironmentFile)"; set +a
credential="$(value LoadCredential)"
if [ -n "$credential" ]; then
  export CREDENTIALS_DIRECTORY="$UNITS/$unit.credentials"
  install -D -m 400 "\${credential#*:}" "$CREDENTIALS_DIRECTORY/\${credential%%:*}"
fi
if [ $mode = wait ]; then eval "$(value ExecStart)"; else eval "$(value ExecStart)" > "$UNITS/$unit.log" 2>&1 & fi`,
};

let folder: string;
const ending = new AsyncDisposableStack();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-hosting-'));
  ending.defer(() => rm(folder, { recursive: true, force: true }));
});
afterAll(() => ending.disposeAsync());

it('the commands of the hosting guide make an installation behind TLS, with a key, a project and a backup', async () => {
  const [port, internalPort] = [await freePort(), await freePort()];
  const { address, authority } = await startFront(port);
  const bin = join(folder, 'bin');
  const places: [string, string][] = [
    ['/root/', `${folder}/root/`],
    ['/usr/local/bin/', `${bin}/`],
    ['/srv/kith', root.replace(/\/$/, '')],
    ['/etc/', `${folder}/etc/`],
    ['/var/', `${folder}/var/`],
    ['https://api.example.org', address],
    ['api.example.org', 'localhost'],
    ['install -d -m 700', `mkdir -p ${folder}/etc ${folder}/var; install -d -m 700`],
    ['NODE_ENV=production\n', `NODE_ENV=production\nPORT=${port}\nINTERNAL_PORT=${internalPort}\n`],
  ];
  const here = (text: string) => places.reduce((made, [from, to]) => made.replaceAll(from, to), text);
  const steps = (await readBlocks('hosting.md')).filter(
    ({ language, file }) => /^(bash|text)$/.test(language) || file !== undefined,
  );
  const blocks = steps.map((block): Block => {
    // The path loses its leading slash, so the guide's files are written below the test's folder.
    return { ...block, text: here(block.text), file: block.file?.slice(1) };
  });
  expect(blocks.filter(({ file }) => file)).toHaveLength(6);

  for (const path of [bin, join(folder, 'root')]) await mkdir(path);
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/bash\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  }
  const env = {
    PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`,
    UNITS: join(folder, 'etc/systemd/system'),
    NODE_EXTRA_CA_CERTS: authority,
    CURL_CA_BUNDLE: authority,
    NODE_COMPILE_CACHE: compileCache(),
    NODE_ENV: '',
    // If npm has set this variable, Kith ends when its parent process ends. So the variable is cleared.
    npm_lifecycle_event: '',
    // This installation must not use the engines of the test suites.
    ...{ MONGODB_URL: '', NATS_URL: '', REDIS_URL: '' },
  };
  await followGuide('hosting.md', blocks, { folder, env });

  const said = await readFile(join(folder, 'root/doctor.txt'), 'utf8');
  expect(said).toContain(`ok       address: Kith answers at ${address}.`);
  expect(said).toMatch(/^ok {7}certificate: /m);
  expect(said).not.toMatch(/^wrong/m);
  expect(await readFile(join(folder, 'root/ada-key'), 'utf8')).toMatch(/^\S{30,}\n$/);
  const backups = join(folder, 'var/backups/kith');
  const [backup = '', ...others] = await readdir(backups);
  expect(others).toEqual([]);
  // Every part of the backup is encrypted.
  expect(await readdir(join(backups, backup))).toEqual(['backup.sealed']);
}, 120_000);

/**
 * Starts a proxy that terminates TLS, with a self-signed certificate.
 */
async function startFront(to: number): Promise<{ address: string; authority: string }> {
  const { authority, ...credentials } = await selfSigned(folder);
  const server = createServer(credentials, (incoming, outgoing) => {
    const headers = { ...incoming.headers, 'x-forwarded-for': incoming.socket.remoteAddress };
    const options = { host: '127.0.0.1', port: to, method: incoming.method, path: incoming.url, headers };
    const forwarded = request(options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.writeHead(502).end());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  ending.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return { address: `https://localhost:${(server.address() as AddressInfo).port}`, authority };
}
