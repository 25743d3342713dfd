import { randomUUID } from 'node:crypto';
import { userCreated } from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { expect, test } from 'vitest';
import { openSession } from '../src/open-session.ts';
import { revokeSession } from '../src/sessions.ts';
import type { Session, User } from '../src/store/index.ts';
import { userEvent } from '../src/user-events.ts';
import { makeApp } from './support/app.ts';
import { sessionIdOf } from './support/people.ts';
import { liveSessions } from './support/sessions.ts';
import { makeUser } from './support/users.ts';

const request = { userAgent: 'vitest', clientIp: '192.0.2.1', setHeader: () => undefined };

test.each(handlerEngines())(
  'a session is ended if its user has changed while the session was being opened, on %s',
  async (engine) => {
    await using undo = new AsyncDisposableStack();
    const app = await makeApp(engine, undo);
    const { store } = app;

    const user = makeUser();
    const { projectId, id } = user;
    await store.users.add(user, userEvent(userCreated, user));
    const open = (as: User) => openSession(app, as, request, new Date(), 'auth/invalid-credentials');
    await open(user);
    expect(await liveSessions(store, projectId, id)).toHaveLength(1);

    const changed = { ...user, sessionEpoch: 1, rev: 2 };
    await store.accounts.update(changed, { event: null, ending: null });
    await expect(open(user)).rejects.toMatchObject({ code: 'auth/invalid-credentials' });
    await open(changed);
    const suspended = { ...changed, isActive: false, suspendedAt: new Date(), sessionEpoch: 2, rev: 3 };
    await store.accounts.update(suspended, { event: null, ending: null });
    await expect(open(changed)).rejects.toMatchObject({ code: 'auth/suspended' });
    // Two of the sessions were valid when they were opened. The later changes would usually end them, but the changes of this
    // test end no session (`ending: null`).
    expect(await liveSessions(store, projectId, id)).toHaveLength(2);
  },
);

test.each(handlerEngines())(
  'a new session ends the least recently used session if the user has 200 sessions, on %s',
  async (engine) => {
    await using undo = new AsyncDisposableStack();
    const app = await makeApp(engine, undo);
    const { store } = app;
    const user = makeUser();
    const { projectId, id: userId } = user;
    await store.users.add(user, userEvent(userCreated, user));
    const now = Date.now();
    const sessions = Array.from({ length: 200 }, (_, age): Session => {
      const createdAt = new Date(now - 1_000 * (200 - age));
      return {
        ...{ sid: randomUUID(), projectId, userId, familyHash: randomUUID(), tokenHash: 'first' },
        ...{ rotated: null, epoch: 0, createdAt, lastUsedAt: createdAt, revokedAt: null },
        ...{ expiresAt: new Date(now + 3600_000), userAgent: null, ip: null },
      };
    });
    await Promise.all(sessions.map((one) => store.sessions.add(one)));
    const [oldest, second, third] = sessions as [Session, Session, Session];
    // The oldest session has just been used. So the new session ends the second-oldest session, and not the oldest.
    const next = { ...oldest, tokenHash: 'second', lastUsedAt: new Date(now) };
    expect(await store.sessions.rotate(oldest, next)).toBe(true);
    const open = () => openSession(app, user, request, new Date(), 'auth/invalid-credentials');
    const live = async () => (await liveSessions(store, projectId, userId)).map(({ sid }) => sid);

    const opened = sessionIdOf(String((await open()).accessToken));
    expect(new Set(await live())).toEqual(
      new Set([opened, ...sessions.flatMap(({ sid }) => (sid === second.sid ? [] : [sid]))]),
    );
    expect(await store.sessions.find(projectId, userId, second.sid)).toMatchObject({
      revokedAt: expect.any(Date),
    });

    // The user ends a session. So the next new session does not have to end another one.
    await revokeSession(app, sessions.at(-1)!, 'signed-out');
    await open();
    expect(await live()).toContain(third.sid);
    // Sessions that are opened at the same time do not end each other.
    const many = (await Promise.all(Array.from({ length: 12 }, open))).map((one) =>
      sessionIdOf(String(one.accessToken)),
    );
    const left = await live();
    expect(left).toHaveLength(200);
    expect(left).toEqual(expect.arrayContaining([oldest.sid, opened, ...many]));
  },
  60_000,
);
