import { DeadlinePassed } from '@kith/base';
import { type OperationSpec, type Session as SessionAnswer, userCreated } from '@kith/contracts';
import type { OperationRequest } from '@kith/service';
import { type EngineKind, handlerEngines } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import type { AppContext } from '../src/app.ts';
import { openSession } from '../src/open-session.ts';
import { requestNewAccessTokenHandler } from '../src/operations/request-new-access-token.ts';
import { userEvent } from '../src/user-events.ts';
import { makeApp } from './support/app.ts';
import { liveSessions } from './support/sessions.ts';
import { makeUser } from './support/users.ts';

const device = { userAgent: 'vitest', clientIp: '192.0.2.1', setHeader: () => undefined };

/**
 * Makes the app of a replica. When the replica next calls the method `name` of the sessions, `what` runs first. If `instead` is
 * given, the call returns `instead`.
 */
function meets(
  app: AppContext,
  name: 'findFamily' | 'rotate',
  what: () => Promise<unknown>,
  instead?: unknown,
): AppContext {
  let isFirst = true;
  const { sessions } = app.store;
  const met = new Proxy(sessions, {
    get(of, key) {
      const value = of[key as keyof typeof of] as unknown;
      if (typeof value !== 'function') return value;
      if (key !== name || !isFirst) return value.bind(of);
      return async (...words: unknown[]) => {
        isFirst = false;
        await what();
        return instead === undefined ? value.apply(of, words) : instead;
      };
    },
  });
  return { ...app, store: { ...app.store, sessions: met } };
}

/** Makes a user, and a function that sends a refresh token to the replica `app` or to another replica. */
async function signedUp(engine: EngineKind, undo: AsyncDisposableStack) {
  const app = await makeApp(engine, undo);
  const user = makeUser();
  await app.store.users.add(user, userEvent(userCreated, user));
  const refresh = (refreshToken: string, by = app, deadline = Date.now() + 5_000) => {
    const audit = { tell() {}, untell() {} };
    const request = { ...device, audit, projectId: user.projectId, deadline, body: { refreshToken } };
    return requestNewAccessTokenHandler.handle(
      request as unknown as OperationRequest<OperationSpec>,
      by,
    ) as Promise<SessionAnswer>;
  };
  return { app, user, refresh };
}

describe.each(handlerEngines())('two replicas and one refresh token, on %s', (engine) => {
  test('if a session was rotated after it was read, its new token does not count as reused', async () => {
    await using undo = new AsyncDisposableStack();
    const { app, user, refresh } = await signedUp(engine, undo);
    const { projectId } = user;
    const first = await openSession(app, user, device, new Date());
    const [stored] = await liveSessions(app.store, projectId, user.id);
    const read = await app.store.sessions.findFamily(projectId, stored?.familyHash ?? '');
    const second = await refresh(first.refreshToken);

    // The replica that gets the second token works with an old copy of the session (`read`), from before this token was issued.
    // In this copy, the second token is not the valid one.
    const third = await refresh(
      second.refreshToken,
      meets(app, 'findFamily', async () => undefined, read),
    );
    expect(await liveSessions(app.store, projectId, user.id)).toHaveLength(1);
    expect((await refresh(third.refreshToken)).success).toBe(true);

    // A reused token is recognised, no matter which state of the session was read.
    const again = await app.store.sessions.findFamily(projectId, stored?.familyHash ?? '');
    await expect(
      refresh(
        first.refreshToken,
        meets(app, 'findFamily', async () => undefined, again),
      ),
    ).rejects.toMatchObject({
      code: 'auth/token-reuse-detected',
    });
    expect(await liveSessions(app.store, projectId, user.id)).toEqual([]);
  });

  test('a session is not ended by a token that was valid when the request came in', async () => {
    await using undo = new AsyncDisposableStack();
    const { app, user, refresh } = await signedUp(engine, undo);
    const { projectId } = user;
    let { refreshToken } = await openSession(app, user, device, new Date());
    /** Refreshes twice at another replica, like a client that has got no answer from the first replica. */
    const goOn = async () => {
      for (let times = 0; times < 2; times++) ({ refreshToken } = await refresh(refreshToken));
    };

    const silent = meets(app, 'findFamily', goOn);
    await expect(refresh(refreshToken, silent, Date.now())).rejects.toThrow(DeadlinePassed);
    expect(await liveSessions(app.store, projectId, user.id)).toHaveLength(1);

    const slow = meets(app, 'rotate', goOn, false);
    await expect(refresh(refreshToken, slow)).rejects.toMatchObject({ code: 'auth/unauthorized' });
    expect(await liveSessions(app.store, projectId, user.id)).toHaveLength(1);
    expect((await refresh(refreshToken)).success).toBe(true);
  });
});
