import { randomUUID } from 'node:crypto';
import { deleteUser, getUser, requestNewAccessToken } from '@kith/contracts';
import {
  createRuntime,
  createStore,
  fragileStore,
  handlerEngines,
  testSecrets,
  waitFor,
} from '@kith/testing';
import { describe, expect, test, vi } from 'vitest';
import { startIdentity } from '../src/index.ts';
import { Erasure } from '../src/store/erasure.ts';
import { openStore } from '../src/store/index.ts';
import { userDeletedEvent } from '../src/user-events.ts';
import { call } from './support/call.ts';
import { collectRevoked } from './support/events.ts';
import { startTestIdentity } from './support/identity.ts';
import { callerOfSession, makeProject, sessionIdOf, signUpUser } from './support/people.ts';
import { dumpStore } from './support/raw-store.ts';
import { liveSessions } from './support/sessions.ts';

describe.each(handlerEngines())('work that was interrupted on %s', (engine) => {
  test('an account is deleted even if its sessions cannot be revoked yet, and the sweep revokes them later', async () => {
    await using place = await createStore(engine);
    await using store = await fragileStore(place.config);
    await using runtime = await createRuntime(engine);
    const options = { store: store.config, secrets: testSecrets, erasureTimes: { everyMs: 20 } };
    await using _identity = await startIdentity(runtime, options);
    const { bus } = runtime;
    const of = await makeProject(bus);
    const session = await signUpUser(bus, of);
    const { user, accessToken } = session;
    const revoked = await collectRevoked(bus);
    const params = { userId: user.id };
    const { remove } = Erasure.prototype;
    vi.spyOn(Erasure.prototype, 'remove').mockImplementationOnce(async function (this: Erasure, ...given) {
      const outcome = await remove.apply(this, given);
      store.fail('sessions');
      return outcome;
    });
    const asked = { projectId: of, params, caller: callerOfSession(session) };
    const answer = await call(bus, deleteUser, asked);
    expect([answer.status, answer.text]).toEqual([204, '']);
    await waitFor(async () => (await call(bus, getUser, { projectId: of, params })).status === 404);
    expect(revoked).toEqual([]);
    store.mend();
    await waitFor(() => revoked.length > 0);
    expect(revoked).toEqual([{ sessionId: sessionIdOf(accessToken), userId: user.id, reason: 'deleted' }]);
  });

  test('the sweep finishes a deletion during which the process died, and nothing of the user is left', async () => {
    await using own = await startTestIdentity(engine, { erasureTimes: { everyMs: 20, settleMs: 0 } });
    const of = await makeProject(own.bus);
    const name = `Ada ${randomUUID()}`;
    const { user } = await signUpUser(own.bus, of, { email: 'ada@example.net', username: 'ada', name });
    const revoked = await collectRevoked(own.bus);
    const dying = await openStore(own.store);
    const stored = await dying.users.find(of, user.id);
    if (!stored) throw new Error('The user is not there.');
    await dying.erasure.remove(stored, userDeletedEvent(stored, new Date()));
    await waitFor(async () => (await dying.erasure.unfinished(1)).length === 0);
    await dying.close();
    await waitFor(() => revoked.length > 0);
    expect(revoked).toEqual([{ sessionId: expect.any(String), userId: user.id, reason: 'deleted' }]);
    const rows = JSON.stringify(await dumpStore(own.store));
    for (const value of ['ada@example.net', '"ada"', name, '192.0.2.1', 'vitest']) {
      expect(rows).not.toContain(value);
    }
  });

  test('the sweep ends sessions that a process left open because it died after a change of the password', async () => {
    await using identity = await startTestIdentity(engine, { sweepEveryMs: 20 });
    const projectId = await makeProject(identity.bus);
    const session = await signUpUser(identity.bus, projectId);
    const store = await openStore(identity.store);
    const user = await store.users.find(projectId, session.user.id);
    if (!user) throw new Error('There is no user.');
    const change = { sessionEpoch: 1, updatedAt: new Date(), rev: user.rev + 1 };
    await store.accounts.update({ ...user, ...change }, { event: null, ending: 'password-changed' });
    const refused = await call(identity.bus, requestNewAccessToken, {
      projectId,
      body: { refreshToken: session.refreshToken },
    });
    expect(refused.body.code).toBe('auth/unauthorized');
    await waitFor(async () => (await liveSessions(store, projectId, user.id)).length === 0);
    await waitFor(async () => (await store.accounts.endings(10)).length === 0);
    await store.close();
  });
});
