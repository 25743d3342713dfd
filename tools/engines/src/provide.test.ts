import { expect, test } from 'vitest';
import { parseOsRelease } from './machine.ts';
import { provideEngines } from './provide.ts';
import { natsSpec } from './specs.ts';

test('engines that are given by their URLs are used as they are', async () => {
  const env = { MONGODB_URL: 'mongodb://m', NATS_URL: 'nats://n', REDIS_URL: 'redis://r' };
  expect(await provideEngines({ env })).toEqual({
    kind: 'urls',
    mongodbUrl: 'mongodb://m',
    natsUrl: 'nats://n',
    redisUrl: 'redis://r',
  });
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
