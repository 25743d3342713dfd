// Starts at most 1 platform and 18 processes.
import type { ServiceName } from '@kith/contracts';
import { availableEngines, startPlatform, type TestPlatform, type TestUser, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { http } from './support/http.ts';
import { privateKey } from './support/keys.ts';

// Only services that are processes of their own can be stopped one by one.
describe.runIf(availableEngines().includes('containers'))('outages', () => {
  let platform: TestPlatform;
  let user: TestUser;

  beforeAll(async () => {
    platform = await startPlatform({ engine: 'containers' });
    user = await platform.createUser((await platform.createProject()).id);
  });
  afterAll(() => platform.stop());

  const key = privateKey();
  const asks = {
    crypto: () =>
      http(platform.url, {
        method: 'POST',
        path: `/${user.projectId}/crypto/sign-testing-jwt`,
        body: { projectId: 'p', privateKey: key, payload: { id: 'u' } },
      }),
    identity: () => http(platform.url, { path: `/${user.projectId}/users/${user.id}` }),
    connections: () =>
      http(platform.url, { path: `/${user.projectId}/connections`, token: user.accessToken }),
    collections: () =>
      http(platform.url, { path: `/${user.projectId}/collections/root`, token: user.accessToken }),
    notifications: () =>
      http(platform.url, { path: `/${user.projectId}/app-notifications`, token: user.accessToken }),
  } satisfies Partial<Record<ServiceName, () => ReturnType<typeof http>>>;
  const names = Object.keys(asks) as (keyof typeof asks)[];

  it.each(names.flatMap((name) => [[name, 'stop'] as const, [name, 'kill'] as const]))(
    'while %s is gone (%s), only its own requests get 503, and it serves again when it is back',
    async (name, how) => {
      await platform.processes?.process(name)?.[how]();
      // If a process is killed, the broker sees that the process's connection is closed. So the platform notices the death.
      await waitFor(async () => (await asks[name]()).status === 503, { what: '503' });
      const refused = await asks[name]();
      expect([refused.status, refused.json(), refused.headers['content-type']]).toEqual([
        503,
        {
          error: 'The service behind this endpoint is not available. Try again later.',
          code: 'gateway/unavailable',
        },
        'application/json',
      ]);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      for (const other of names.filter((one) => one !== name)) {
        expect([other, (await asks[other]()).status]).toEqual([other, 200]);
      }
      await platform.processes?.start(name);
      expect((await asks[name]()).status).toBe(200);
    },
  );
});
