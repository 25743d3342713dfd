import { userCreated } from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { expect, test, vi } from 'vitest';
import { eraseAccount } from '../src/erase-account.ts';
import { finishErasures } from '../src/erasure.ts';
import { KnownSince } from '../src/known-since.ts';
import { openSession } from '../src/open-session.ts';
import { tokensEnd } from '../src/sessions.ts';
import { suspend } from '../src/suspension.ts';
import { userEvent } from '../src/user-events.ts';
import { makeApp } from './support/app.ts';
import { sessionIdOf } from './support/people.ts';
import { makeUser } from './support/users.ts';

const request = { userAgent: 'vitest', clientIp: '192.0.2.1', setHeader: () => undefined };

test.each(handlerEngines())(
  'the sessions of a suspended user are kept for a shorter time after the account is erased (%s)',
  async (engine) => {
    await using undo = new AsyncDisposableStack();
    const app = await makeApp(engine, undo);
    const user = makeUser();
    const { projectId, id: userId } = user;
    await app.store.users.add(user, userEvent(userCreated, user));
    const { accessToken } = await openSession(app, user, request, new Date());
    await suspend(app, { projectId, userId }, { until: null, reason: null });
    const read = async () => {
      const session = await app.store.sessions.find(projectId, userId, sessionIdOf(String(accessToken)));
      return { revokedAt: session?.revokedAt as Date, expiresAt: session?.expiresAt as Date };
    };
    const { revokedAt, expiresAt } = await read();
    expect(expiresAt.getTime()).toBeGreaterThan(tokensEnd(revokedAt).getTime());

    await eraseAccount(app, { projectId, userId });
    const isFinished = async () => {
      app.relay.kick();
      await finishErasures(app, 0);
      return (await app.store.erasure.unfinished(10)).length === 0;
    };
    await waitFor(isFinished, { what: 'the end of the erasure', timeoutMs: 10_000 });
    // The session stays stored as long as gateways have to refuse its access token.
    expect(await read()).toEqual({ revokedAt, expiresAt: tokensEnd(revokedAt) });
  },
);

test.each(handlerEngines())(
  'an erasure waits for running requests as long as usual if the clock is set an hour ahead (%s)',
  async (engine) => {
    await using undo = new AsyncDisposableStack();
    const app = await makeApp(engine, undo);
    const user = makeUser();
    const { projectId, id: userId } = user;
    await app.store.users.add(user, userEvent(userCreated, user));
    await eraseAccount(app, { projectId, userId });
    const isOut = async () => {
      app.relay.kick();
      return (await app.store.outbox.unpublished(10)).length === 0;
    };
    await waitFor(isOut, { what: 'the events' });

    const known = new KnownSince();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3600_000 });
    for (let times = 0; times < 2; times++) await finishErasures(app, 60_000, known);
    expect(await app.store.erasure.unfinished(10)).toMatchObject([{ userId }]);
    await finishErasures(app, 0, known);
    expect(await app.store.erasure.unfinished(10)).toEqual([]);
  },
);
