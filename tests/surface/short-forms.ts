import { randomUUID } from 'node:crypto';
import {
  acceptConnection,
  blockUser,
  countConnections,
  countUserConnections,
  declineConnection,
  deleteConnection,
  deleteConnectionWithUser,
  getConnectionSettings,
  getConnectionStatus,
  listBlocks,
  listConnections,
  listReceivedRequests,
  listSentRequests,
  listUserConnections,
  requestConnection,
  unblockUser,
  updateConnectionSettings,
} from '@kith/contracts';
import type { TestUser } from '@kith/testing';
import { beforeAll, expect, it } from 'vitest';
import { expiredToken } from '../support/surface/expired-token.ts';
import { fieldsOf } from '../support/surface/outcomes.ts';
import { sides } from '../support/surface/parts.ts';
import { surfaceSuite } from '../support/surface/suite.ts';

const forms = ['/v6', '/v7', '/api/v6', '/api/v7'];
/** An address that names no project. */
const short = { projectId: null };

export const shortForms = surfaceSuite('short-forms', (world) => {
  let ada: TestUser;
  let grace: TestUser;
  beforeAll(async () => {
    ada = await world.user({ name: 'Ada' });
    grace = await world.user({ name: 'Grace' });
  });
  const about = (by: TestUser, other: TestUser) => ({
    ...short,
    token: by.accessToken,
    params: { userId: other.id },
  });
  const of = (by: TestUser, connectionId: string) => ({
    ...short,
    token: by.accessToken,
    params: { connectionId },
  });

  it('operations that connect, disconnect and block use the token’s project', async () => {
    const ask = async () => (await world.ok(requestConnection, about(ada, grace))).body.id;
    const first = await ask();
    const { body: status } = await world.ok(getConnectionStatus, about(grace, ada));
    expect(status).toMatchObject({ status: 'pending', type: 'received', connectionId: first });
    await world.ok(acceptConnection, { ...of(grace, first), method: 'PUT' });
    await world.ok(deleteConnection, of(ada, first));
    await ask();
    await world.ok(deleteConnectionWithUser, about(ada, grace));
    await world.ok(declineConnection, of(grace, await ask()));
    await world.ok(blockUser, about(grace, ada));
    const { body: blocks } = await world.ok(listBlocks, { ...short, token: grace.accessToken });
    expect(blocks.data.map(({ user }) => user.id)).toEqual([ada.id]);
    await world.ok(unblockUser, about(grace, ada));
    const settings = { ...short, token: ada.accessToken };
    await world.ok(updateConnectionSettings, { ...settings, body: { showsConnections: false } });
    const { body: kept } = await world.ok(getConnectionSettings, settings);
    expect(kept.showsConnections).toBe(false);
    // A short form works in the project of the user whose token is sent. Users of other projects do not exist there.
    await world.refused(requestConnection, about(ada, world.stranger), 'connection/user-not-found');
  });

  it('under v7, and only there, lists have the general envelope in addition to their own envelope', async () => {
    const [one, other, third] = [await world.user(), await world.user(), await world.user()];
    await world.platform.connect(one, other);
    await world.ok(requestConnection, about(one, third));
    await world.ok(requestConnection, about(third, other));
    const own = {
      currentPage: 1,
      totalPages: 1,
      totalCount: 1,
      hasNextPage: false,
      hasPreviousPage: false,
      limit: 20,
    };
    const general = { page: 1, pageSize: 20, totalPages: 1, totalItems: 1, hasMore: false };
    const lists = [
      [listConnections, 'connections', one],
      [listUserConnections, 'connections', one],
      [listSentRequests, 'requests', one],
      [listReceivedRequests, 'requests', other],
    ] as const;
    for (const [spec, key, user] of lists) {
      const given = { token: user.accessToken, params: { userId: user.id } };
      const plain = (await world.ok(spec, given)).body as Record<string, unknown>;
      expect(plain).toEqual({ [key]: [expect.any(Object)], pagination: own });
      for (const form of forms) {
        const { body } = await world.ok(spec, { ...given, ...short, form });
        const both = { [key]: plain[key], data: plain[key], pagination: { ...own, ...general } };
        expect(body).toEqual(form.endsWith('v7') ? both : plain);
      }
    }
  });

  it('public reads use the project of the requested user, no matter who asks', async () => {
    const [one, other] = [await world.user(), await world.user()];
    await world.platform.connect(one, other);
    for (const form of forms) {
      for (const token of [undefined, 'null', other.accessToken, world.stranger.accessToken]) {
        const given = { ...short, form, params: { userId: one.id }, ...(token ? { token } : {}) };
        expect((await world.ok(countUserConnections, given)).body).toEqual({ count: 1 });
        expect((await world.ok(listUserConnections, given)).body.connections).toHaveLength(1);
      }
      for (const userId of ['nonsense', randomUUID()]) {
        for (const spec of [countUserConnections, listUserConnections]) {
          await world.refused(spec, { ...short, form, params: { userId } }, 'connection/user-not-found');
        }
      }
      const own = { ...short, form, token: one.accessToken };
      expect((await world.ok(countConnections, own)).body).toEqual({ count: 1 });
    }
  });

  it('an expired token gets 403 under a v7 short form, and 401 everywhere else', async () => {
    const token = await expiredToken(world.platform, ada.accessToken);
    for (const spec of sides['short-forms'].operations.filter(({ auth }) => auth === 'user')) {
      // The platform checks the token first, so other mistakes in the request do not matter.
      const params = Object.fromEntries(fieldsOf(spec.params).map((name) => [name, 'nonsense']));
      for (const form of forms) {
        const code = form.endsWith('v7') ? 'auth/token-expired' : 'auth/unauthorized';
        await world.refused(spec, { ...short, form, params, token }, code);
      }
      await world.refused(spec, { params, token }, 'auth/unauthorized');
      await world.refused(spec, { ...short, params }, 'auth/unauthorized');
      await world.refused(spec, { ...short, params, token: 'null' }, 'auth/unauthorized');
    }
    const read = { ...short, params: { userId: ada.id }, token };
    await world.ok(listUserConnections, read);
  });
});
