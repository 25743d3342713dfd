// Starts no platform and at most 2 processes.
import { chmod, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '@kith/base/config';
import { expect, test } from 'vitest';
import { dockerElsewhere } from './docker.ts';
import { parseOsRelease } from './machine.ts';
import { provideEngines, withoutUrls } from './provide.ts';
import { natsSpec } from './specs.ts';

test('engines that are given by their URLs are used, even if the URLs are in files', async () => {
  const env = { MONGODB_URL: 'mongodb://m', NATS_URL: 'nats://n', REDIS_URL: 'redis://r' };
  const given = { kind: 'urls', mongodbUrl: 'mongodb://m', natsUrl: 'nats://n', redisUrl: 'redis://r' };
  expect(await provideEngines({ env })).toEqual(given);

  await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-urls-'));
  const file = join(folder.path, 'nats-url');
  await writeFile(file, 'nats://n\n');
  const withFile = { ...env, NATS_URL: undefined, NATS_URL_FILE: file };
  expect(await provideEngines({ env: withFile })).toEqual(given);
  const unreadable = { ...withFile, NATS_URL_FILE: join(folder.path, 'nothing') };
  await expect(provideEngines({ env: unreadable })).rejects.toThrow(StartError);
  const { HOME, ...urls } = withoutUrls({ ...withFile, HOME: '/home' });
  expect([HOME, ...Object.values(urls).filter(Boolean)]).toEqual(['/home']);
});

test('a Docker on another machine is refused before anything starts there', async () => {
  const reason = (address: string) => expect.stringContaining(`Docker is on another machine (${address})`);
  for (const [DOCKER_HOST, shown] of [
    ['tcp://docker:2375', 'tcp://docker:2375'],
    ['ssh://me@build.example', 'ssh://build.example'],
  ]) {
    const env = { ...withoutUrls(process.env), DOCKER_HOST };
    expect(await provideEngines({ env })).toEqual({ kind: 'none', reason: reason(shown ?? '') });
  }

  // Without DOCKER_HOST, the context of the `docker` command says where Docker is.
  await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-docker-'));
  const command = join(folder.path, 'docker');
  await writeFile(command, '#!/bin/sh\n[ "$1" = context ] && echo tcp://192.0.2.1:2376\n');
  await chmod(command, 0o755);
  const env = { PATH: folder.path };
  expect(await dockerElsewhere(env)).toBe('tcp://192.0.2.1:2376');
  for (const local of ['tcp://127.0.0.1:2375', 'tcp://localhost:2375', 'tcp://[::1]:2375', 'unix:///d.sock'])
    expect(await dockerElsewhere({ ...env, DOCKER_HOST: local })).toBe(undefined);
});

test('the distribution is read with and without quotes', () => {
  expect(parseOsRelease('NAME="Debian"\nVERSION_CODENAME=bookworm\nID=debian\n')).toEqual({
    id: 'debian',
    codename: 'bookworm',
  });
  expect(parseOsRelease('ID="ubuntu"\nID_LIKE=debian\nVERSION_CODENAME="noble"')).toEqual({
    id: 'ubuntu',
    codename: 'noble',
  });
  expect(parseOsRelease('')).toEqual({ id: '', codename: '' });
});

test('a NATS configuration is mounted with its folder, from an absolute path', () => {
  const { command, mounts } = natsSpec('nats', 'conf/nats.conf');
  expect(command.slice(0, 2)).toEqual(['-c', '/etc/kith/nats.conf']);
  expect(mounts).toEqual([{ source: `${process.cwd()}/conf`, target: '/etc/kith' }]);
});
