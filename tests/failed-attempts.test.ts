import { handlerEngines } from '@kith/testing';
import { expect, test } from 'vitest';
import { startAuthWorld } from './support/auth-world.ts';
import { http } from './support/http.ts';

const day = 24 * 3600_000;

test.each(handlerEngines())(
  'sixty IP addresses share ten attempts; the usual address of the user is not blocked; blocks end after a day (%s)',
  async (engine) => {
    let ahead = 0;
    await using world = await startAuthWorld(engine, { now: () => Date.now() + ahead });
    // On real engines, a second replica of identity runs, because replicas have to share their counts. On SQLite, identity can
    // have only one replica.
    if (engine === 'containers') await world.anotherIdentity();
    const { id: projectId } = await world.createProject();
    const { email, password } = await world.createUser(projectId);
    const signIn = (given: string, from?: string) =>
      http(world.url, {
        method: 'POST',
        path: `/v7/${projectId}/auth/sign-in`,
        body: { email, password: given },
        ...(from === undefined ? {} : { from }),
      });
    const answers = [];
    for (let at = 2; at <= 61; at++) answers.push(await signIn('a wrong one', `127.0.0.${at}`));
    expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(401), ...Array(50).fill(429)]);
    const [refused] = answers.slice(10);
    expect(refused?.json()).toEqual({
      error: 'Too many attempts have failed. Try again later.',
      code: 'auth/too-many-attempts',
    });
    const wait = Number(refused?.headers['retry-after']);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(30);
    expect((await signIn(password, '127.0.0.62')).status).toBe(429);
    expect((await signIn(password)).status).toBe(200);
    ahead = day;
    expect((await signIn('a wrong one', '127.0.0.2')).status).toBe(401);
    expect((await signIn(password, '127.0.0.62')).status).toBe(200);
  },
);
