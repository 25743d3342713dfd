import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { accessPlatform } from './platform-access.ts';

test('requests keep the path of the platform’s address, because another application may serve the other paths of its host', async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url);
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { OPERATOR_TOKEN: 'token' };
  for (const address of [origin, `${origin}/`, `${origin}/kith`, `${origin}/kith/`]) {
    const access = accessPlatform({ words: [], options: { url: address } }, { env });
    await access.call('GET', '/admin/projects');
  }
  server.close();
  expect(asked).toEqual([
    '/admin/projects',
    '/admin/projects',
    '/kith/admin/projects',
    '/kith/admin/projects',
  ]);
});
