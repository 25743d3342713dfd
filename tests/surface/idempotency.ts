import { randomUUID } from 'node:crypto';
import {
  addEntity,
  changePassword,
  createFile,
  deleteUser,
  enrolFactor,
  getConnectionStatus,
  listEntities,
  listNotifications,
  listSessions,
  listSubCollections,
  type OperationSpec,
  operations,
  renameCollection,
  requestConnection,
  requestNewAccessToken,
  type Session,
  sendVerificationEmail,
  signIn,
  signUp,
  stepUp,
  takesKey,
} from '@kith/contracts';
import { type TestUser, waitFor } from '@kith/testing';
import { expect, it } from 'vitest';
import { Authenticator } from '../support/authenticator.ts';
import { mailTo, tokenIn } from '../support/mails.ts';
import { filePart } from '../support/multipart.ts';
import { type SurfaceWorld, surfaceSuite } from '../support/surface/suite.ts';
import type { Given } from '../support/surface/surface.ts';
import { userWithPasskey } from '../support/surface/user-with-passkey.ts';

const keyed = operations.filter(takesKey);
const replayed = 'idempotency-replayed';

/** A valid call of each operation that takes a key. If an operation has no call here, the first test fails. */
const calls: Readonly<Record<string, (world: SurfaceWorld) => Promise<Given>>> = {
  'identity.sign-up': async () => ({
    body: { email: `${randomUUID()}@example.com`, password: randomUUID(), name: 'Ada' },
  }),
  'identity.change-password': async (world) => {
    const { accessToken: token, password } = await world.user();
    return { token, body: { password, newPassword: randomUUID() } };
  },
  'identity.send-verification-email': async (world) => ({ token: (await world.user()).accessToken }),
  'identity.verify-email': async (world) => {
    const { accessToken: token, email } = await world.user();
    await world.ok(sendVerificationEmail, { token });
    const code = tokenIn(await mailTo(world.platform, email, 'verificationCode'));
    return { token, body: { token: code } };
  },
  'identity.change-email': async (world) => {
    const { accessToken: token, password } = await world.user();
    return { token, body: { password, newEmail: `${randomUUID()}@example.com` } };
  },
  'identity.delete-session': async (world) => {
    const { id, projectId, email, password, accessToken: token } = await world.user();
    const path = `/v7/${projectId}/auth/sign-in`;
    const { accessToken } = await world.platform.call<Session>('POST', path, { body: { email, password } });
    const { sid } = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString());
    expect(id).not.toBe(sid);
    return { token, params: { sessionId: sid } };
  },
  'identity.enrol-factor': async (world) => {
    const { accessToken: token } = await world.user();
    return { token, body: { type: 'totp' } };
  },
  'identity.confirm-factor': async (world) => {
    const { accessToken: token } = await world.user();
    const begun = (await world.ok(enrolFactor, { token, body: { type: 'totp' } })).body;
    if (begun.type !== 'totp') throw new Error('The begun factor is a passkey, not TOTP.');
    const body = { code: new Authenticator(begun.secret).next() };
    return { token, params: { factorId: begun.id }, body };
  },
  'identity.remove-factor': async (world) => {
    const { token, factorId } = await proved(world);
    return { token, params: { factorId } };
  },
  'identity.renew-recovery-codes': async (world) => {
    const { token } = await proved(world);
    return { token };
  },
  'identity.challenge-passkey': async (world) => {
    const { token } = await proved(world);
    return { token, body: { rpId: 'localhost' } };
  },
  'identity.step-up': async (world) => {
    const { token, password } = await proved(world);
    return { token, body: { password } };
  },
  'identity.update-user': async (world) => {
    const { id: userId, accessToken: token } = await world.user();
    return { token, params: { userId }, body: { bio: 'New' } };
  },
  'identity.delete-user': async (world) => {
    const { id: userId, accessToken: token } = await world.user();
    return { token, params: { userId } };
  },
  'connections.request': async (world) => {
    const [{ accessToken: token }, { id: userId }] = await two(world);
    return { token, params: { userId }, body: { message: 'Hello' } };
  },
  'connections.delete-with-user': async (world) => {
    const [ada, { id: userId }] = await connected(world);
    return { token: ada.accessToken, params: { userId } };
  },
  'connections.accept': asked,
  'connections.decline': asked,
  'connections.delete': async (world) => {
    const [{ accessToken: token }, , connectionId] = await connected(world);
    return { token, params: { connectionId } };
  },
  'connections.block': async (world) => {
    const [{ accessToken: token }, { id: userId }] = await two(world);
    return { token, params: { userId } };
  },
  'connections.unblock': async (world) => {
    const [{ accessToken: token, projectId }, { id: userId }] = await two(world);
    await world.platform.call('POST', `/v7/${projectId}/users/${userId}/block`, { token });
    return { token, params: { userId } };
  },
  'connections.update-settings': async (world) => {
    const { accessToken: token } = await world.user();
    return { token, body: { requestsFrom: 'nobody' } };
  },
  'notifications.update-settings': async (world) => {
    const { accessToken: token } = await world.user();
    return { token, body: { types: { 'connection-accepted': false } } };
  },
  'collections.create-sub-collection': async (world) => {
    const { token, params } = await folder(world);
    return { token, params, body: { collectionName: 'Sub' } };
  },
  'collections.rename': async (world) => ({ ...(await folder(world)), body: { name: 'Renamed' } }),
  'collections.delete': folder,
  'collections.add-entity': async (world) => ({ ...(await folder(world)), body: { entityId: 'post' } }),
  'collections.remove-entity': async (world) => {
    const { token, params } = await folder(world);
    await world.ok(addEntity, { token, params, body: { entityId: 'post' } });
    return { token, params: { ...params, entityId: 'post' } };
  },
  'notifications.mark-as-read': async (world) => {
    const { token, notificationId } = await notified(world);
    return { token, params: { notificationId } };
  },
  'storage.delete-file': async (world) => {
    const { accessToken: token } = await world.user();
    const { body } = await world.ok(createFile, { token, parts: [filePart('notes')] });
    return { token, params: { fileId: body.fileId } };
  },
  'notifications.create': async (world) => ({
    token: world.serverKey,
    body: { userIds: (await two(world)).map(({ id }) => id), type: 'order-shipped' },
  }),
  'notifications.mark-all-as-read': async (world) => ({ token: (await notified(world)).token }),
};

async function two(world: SurfaceWorld): Promise<[TestUser, TestUser]> {
  return [await world.user(), await world.user()];
}

/** A user with a passkey who has just stepped up. */
async function proved(world: SurfaceWorld) {
  const { accessToken: token, password, factorId } = await userWithPasskey(world);
  await world.ok(stepUp, { token, body: { password } });
  return { token, password, factorId };
}

async function connected(world: SurfaceWorld): Promise<[TestUser, TestUser, string]> {
  const [ada, grace] = await two(world);
  return [ada, grace, await world.platform.connect(ada, grace)];
}

async function asked(world: SurfaceWorld) {
  const [{ accessToken, projectId }, grace] = await two(world);
  const path = `/v7/${projectId}/users/${grace.id}/connection`;
  const { id: connectionId } = await world.platform.call<{ id: string }>('POST', path, {
    token: accessToken,
    body: {},
  });
  return { token: grace.accessToken, params: { connectionId } };
}

async function folder(world: SurfaceWorld) {
  const ada = await world.user();
  const { id: collectionId } = await world.platform.createCollection(ada, 'Folder');
  return { token: ada.accessToken, params: { collectionId } };
}

async function notified(world: SurfaceWorld) {
  const { token } = await asked(world);
  const first = async () => {
    const { body } = await world.ok(listNotifications, { token });
    return 'data' in body ? body.data[0]?.id : undefined;
  };
  const notificationId = await waitFor(first, { what: 'a notification' });
  return { token, notificationId };
}

const withKey = (given: Given, key: string): Given => ({
  ...given,
  headers: { ...given.headers, 'idempotency-key': key },
});

/** The same request with another query. The operation does not read this query. */
const otherwise = (given: Given): Given => ({ ...given, query: 'other=1' });

export const idempotency = surfaceSuite('idempotency', (world) => {
  const callOf = (spec: OperationSpec) => {
    const call = calls[spec.name];
    if (!call) throw new Error(`There is no call of ${spec.name}: add one to the list above.`);
    return call(world);
  };

  // Each request is sent twice, as a client does if the first answer was lost.
  it.each(keyed.map((spec) => [spec.name, spec] as const))(
    '%s: a repeated request with the same key gets the same bytes',
    async (_, spec) => {
      const given = await callOf(spec);
      const key = `"${randomUUID()}"`;
      await world.refused(spec, withKey(given, '""'), 'request/invalid-idempotency-key');
      const first = await world.ok(spec, withKey(given, key));
      expect(first.headers).not.toHaveProperty(replayed);
      if (spec === deleteUser) {
        // The platform checks a token before it replays an answer (spec#idempotency-check-order).
        await world.refused(spec, withKey(given, key), 'auth/unauthorized');
        return;
      }
      for (const form of ['/v7', '/api/v6']) {
        const again = await world.ok(spec, { ...withKey(given, key.replaceAll('"', '')), form });
        expect(again.text).toBe(first.text);
        expect(again.headers).toHaveProperty(replayed, 'true');
      }
      await world.refused(spec, withKey(otherwise(given), key), 'request/idempotency-mismatch');
    },
  );

  it('a repeated request has no effect if its key is the same, and takes effect again with another key or without a key', async () => {
    const given = await folder(world);
    const body = { collectionName: 'Sub' };
    const create = keyed.find(({ name }) => name === 'collections.create-sub-collection') as OperationSpec;
    for (const key of ['one', 'one', 'two', 'one']) await world.ok(create, withKey({ ...given, body }, key));
    await world.ok(create, { ...given, body });
    expect((await world.ok(listSubCollections, given)).body).toHaveLength(3);
  });

  it('simultaneous requests with the same key take effect once', async () => {
    const given = await folder(world);
    const request = withKey({ ...given, body: { entityId: 'post' } }, 'at-once');
    const url = `${world.platform.url}/v7/${world.projectId}/collections/${given.params.collectionId}/entities`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const headers = { authorization: `Bearer ${given.token}`, 'content-type': 'application/json' };
        const response = await fetch(url, {
          method: 'POST',
          headers: { ...headers, ...request.headers },
          body: JSON.stringify(request.body),
        });
        return { status: response.status, replayed: response.headers.get(replayed) };
      }),
    );
    expect(answers.filter((one) => one.status === 200 && one.replayed === null)).toHaveLength(1);
    expect(answers.every((one) => one.status === 409 || one.status === 200)).toBe(true);
    expect((await world.ok(listEntities, given)).body.pagination.totalItems).toBe(1);
  });

  it('a repeated request is refused with request/in-progress while the first attempt is still running', async () => {
    const given = withKey(await callOf(signUp), 'running');
    // The other requests arrive while the first request is hashing the password.
    expect(await world.eightAtOnce(signUp, given, 'request/in-progress')).toBeGreaterThan(0);
    const { headers } = await world.ok(signUp, given);
    expect(headers).toHaveProperty(replayed, 'true');
  });

  it('the same key of two callers counts as two keys', async () => {
    const [ada, grace] = [await folder(world), await folder(world)];
    const body = { name: 'Renamed' };
    for (const given of [ada, grace]) {
      const { body: renamed, headers } = await world.ok(
        renameCollection,
        withKey({ ...given, body }, 'shared'),
      );
      expect(renamed.id).toBe(given.params.collectionId);
      expect(headers).not.toHaveProperty(replayed);
    }
  });

  it('after a refused request, a repeated request with the same key is processed again', async () => {
    const [ada, grace] = await two(world);
    const given = withKey({ token: ada.accessToken, params: { userId: grace.id }, body: {} }, 'later');
    await world.platform.call('POST', `/v7/${world.projectId}/users/${grace.id}/connection`, {
      token: ada.accessToken,
      body: {},
    });
    await world.refused(requestConnection, given, 'connection/request-pending');
    const status = await world.ok(getConnectionStatus, {
      token: ada.accessToken,
      params: { userId: grace.id },
    });
    const { connectionId } = status.body as { connectionId: string };
    await world.platform.call('DELETE', `/v7/${world.projectId}/connections/${connectionId}`, {
      token: ada.accessToken,
    });
    const { headers } = await world.ok(requestConnection, given);
    expect(headers).not.toHaveProperty(replayed);
  });

  it('a key is a quoted or a bare string of 1 to 255 characters', async () => {
    const given = { ...(await folder(world)), body: { name: 'Named' } };
    const wrong = [
      '',
      '""',
      '"open',
      'open"',
      'two words',
      '"a" "b"',
      '"a", "b"',
      '"\\x"',
      'é',
      'x'.repeat(256),
    ];
    for (const key of [...wrong, `"${'x'.repeat(256)}"`])
      await world.refused(renameCollection, withKey(given, key), 'request/invalid-idempotency-key');
    for (const key of ['x', '"two words"', '"a \\" b"', '"\\\\"', 'x'.repeat(255), `"${'y'.repeat(255)}"`])
      await world.ok(renameCollection, withKey(given, key));
  });

  it('when a change is answered, its effects have already taken place: a new password has ended the other sessions', async () => {
    const { email, password, accessToken: token } = await world.user();
    const { body: other } = await world.ok(signIn, { body: { email, password } });
    expect((await world.ok(listSessions, { token })).body.pagination.totalItems).toBe(2);
    const body = { password, newPassword: randomUUID() };
    await world.ok(changePassword, withKey({ token, body }, 'change'));
    expect((await world.ok(listSessions, { token })).body.pagination.totalItems).toBe(1);
    const { refreshToken } = other;
    await world.refused(requestNewAccessToken, { body: { refreshToken } }, 'auth/unauthorized');
  });
});
