import { userCreated } from '@kith/contracts';
import { availableEngines } from '@kith/testing';
import { expect, test } from 'vitest';
import { openSession } from '../src/open-session.ts';
import type { User } from '../src/store/index.ts';
import { userEvent } from '../src/user-events.ts';
import { makeApp } from './support/app.ts';
import { makeUser } from './support/users.ts';

const request = { userAgent: 'vitest', clientIp: '192.0.2.1', setHeader: () => undefined };

test.each(availableEngines())(
  'a session that was opened on what has changed meanwhile is ended again, on %s',
  async (engine) => {
    await using undo = new AsyncDisposableStack();
    const app = await makeApp(engine, undo);
    const { store } = app;

    const user = makeUser();
    const { projectId, id } = user;
    await store.users.add(user, userEvent(userCreated, user));
    const open = (as: User) => openSession(app, as, request, new Date(), 'auth/invalid-credentials');
    await open(user);
    expect(await store.sessions.live(projectId, id)).toHaveLength(1);

    const changed = { ...user, sessionEpoch: 1, rev: 2 };
    await store.accounts.update(changed, { event: null, ending: null });
    await expect(open(user)).rejects.toMatchObject({ code: 'auth/invalid-credentials' });
    await open(changed);
    const suspended = { ...changed, isActive: false, suspendedAt: new Date(), sessionEpoch: 2, rev: 3 };
    await store.accounts.update(suspended, { event: null, ending: null });
    await expect(open(changed)).rejects.toMatchObject({ code: 'auth/suspended' });
    // Two sessions were valid when they were opened. The change itself must end them.
    expect(await store.sessions.live(projectId, id)).toHaveLength(2);
  },
);
