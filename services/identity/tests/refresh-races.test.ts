import { type OperationSpec, type Session as SessionAnswer, userCreated } from '@kith/contracts';
import type { OperationRequest } from '@kith/service';
import { availableEngines } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import type { AppContext } from '../src/app.ts';
import { openSession } from '../src/open-session.ts';
import { requestNewAccessTokenHandler } from '../src/operations/request-new-access-token.ts';
import type { Session } from '../src/store/index.ts';
import { userEvent } from '../src/user-events.ts';
import { makeApp } from './support/app.ts';
import { makeUser } from './support/users.ts';

const device = { userAgent: 'vitest', clientIp: '192.0.2.1', setHeader: () => undefined };

/** The app of a replica whose next reading of a session is one that was made before, as of an old primary. */
function readsLate(app: AppContext, read: Session | null): AppContext {
  let isFirst = true;
  const { sessions } = app.store;
  const late = new Proxy(sessions, {
    get(of, name) {
      if (name === 'findFamily' && isFirst) {
        isFirst = false;
        return async () => read;
      }
      const value = of[name as keyof typeof of];
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
  return { ...app, store: { ...app.store, sessions: late } };
}

describe.each(availableEngines())('two replicas and one refresh token, on %s', (engine) => {
  test('a session that has been rotated since it was read is not ended as reused', async () => {
    await using undo = new AsyncDisposableStack();
    const app = await makeApp(engine, undo);
    const user = makeUser();
    const { projectId } = user;
    await app.store.users.add(user, userEvent(userCreated, user));
    const refresh = (refreshToken: string, by = app) =>
      requestNewAccessTokenHandler.handle(
        { ...device, projectId, body: { refreshToken } } as unknown as OperationRequest<OperationSpec>,
        by,
      ) as Promise<SessionAnswer>;
    const first = await openSession(app, user, device, new Date());
    const [stored] = await app.store.sessions.live(projectId, user.id);
    const read = await app.store.sessions.findFamily(projectId, stored?.familyHash ?? '');
    const second = await refresh(first.refreshToken);

    // By the reading of before, the second token is none of the session's.
    const third = await refresh(second.refreshToken, readsLate(app, read));
    expect(await app.store.sessions.live(projectId, user.id)).toHaveLength(1);
    expect((await refresh(third.refreshToken)).success).toBe(true);

    // A reuse is one by whatever reading.
    const again = await app.store.sessions.findFamily(projectId, stored?.familyHash ?? '');
    await expect(refresh(first.refreshToken, readsLate(app, again))).rejects.toMatchObject({
      code: 'auth/token-reuse-detected',
    });
    expect(await app.store.sessions.live(projectId, user.id)).toEqual([]);
  });
});
