import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { redisConfig } from './redis.ts';

it('Redis removes counts long before its container is full, even while Redis rewrites its file', () => {
  const compose = readFileSync(new URL('../../../../docker-compose.yml', import.meta.url), 'utf8');
  const [, container] = /^ {2}redis:\n(?: {4}.*\n)*? {4}mem_limit: (\d+)m$/m.exec(compose) ?? [];
  const [, most] = /^maxmemory (\d+)mb$/m.exec(redisConfig('/folder')) ?? [];
  expect(2 * Number(most)).toBeLessThan(Number(container));
});
