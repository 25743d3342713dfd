import { randomUUID } from 'node:crypto';
import { repeatHeader } from '@kith/bus';
import {
  getUser,
  listConnections,
  listSentRequests,
  listUserConnections,
  projectOfUser,
} from '@kith/contracts';
import { serveInternal, successReply } from '@kith/service';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  expectError,
  projectId,
  type Seen,
  send,
  serveEcho,
  serveIssuer,
  startTestGateway,
  type TestGateway,
  type TestIssuer,
  userId,
} from './harness.ts';

const prefixes = ['/v6', '/v7', '/api/v6', '/api/v7'];
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

// spec#short-forms: addresses without a project.
describe.each(handlerEngines())('short forms on %s', (engine) => {
  let test: TestGateway;
  let issuer: TestIssuer;
  let lists: { seen: Seen[] };
  let reads: { seen: Seen[] };
  const there = { userId: randomUUID(), projectId: randomUUID() };

  beforeAll(async () => {
    test = await startTestGateway(engine, { env: { RATE_LIMIT_SCALE: '0' } });
    issuer = await serveIssuer(test.bus);
    lists = await serveEcho(test.bus, listConnections);
    reads = await serveEcho(test.bus, listUserConnections);
    await serveEcho(test.bus, getUser);
    await serveInternal(
      {
        spec: projectOfUser,
        handle: async (asked: { userId: string }) => ({
          projectId: asked.userId === there.userId ? there.projectId : null,
        }),
      },
      { ...test.runtime, app: {}, checkOutput: true },
    );
  });
  afterAll(() => test[Symbol.asyncDispose]());

  const ask = (path: string, headers: Record<string, string> = {}) =>
    send(test.gateway.port, { path, headers });

  it.each(prefixes)('%s/connections lists the connections of the token’s project', async (prefix) => {
    const answer = await ask(`${prefix}/connections?page=2`, bearer(await issuer.token()));
    expect(answer.status).toBe(200);
    const wireVersion = prefix.endsWith('v7') ? 'v7' : 'v6';
    expect(lists.seen.at(-1)?.context).toMatchObject({
      projectId,
      caller: { userId },
      wireVersion,
      form: prefix,
      isShort: true,
      query: 'page=2',
    });
  });

  it('repeats the items of a list if a header of the service’s reply asks for this, and hides this header from the client', async () => {
    const items = { requests: [{ id: 'é' }], pagination: { page: 1 } };
    await serveEcho(test.bus, listSentRequests, () =>
      successReply(200, items, { [repeatHeader]: 'requests' }),
    );
    const { headers, text } = await ask('/v7/connections/pending/sent', bearer(await issuer.token()));
    expect(JSON.parse(text)).toEqual({ ...items, data: items.requests });
    expect(headers).not.toHaveProperty(repeatHeader.toLowerCase());
  });

  it('needs a token if the operation needs one', async () => {
    expectError(await ask('/v7/connections'), 'auth/unauthorized');
    expectError(await ask('/v7/connections', bearer('null')), 'auth/unauthorized');
  });

  it('answers auth/token-expired to an expired token only under v7 short forms', async () => {
    const past = Math.floor(Date.now() / 1000) - 60;
    const expired = bearer(await issuer.token({ iat: past - 600, exp: past }));
    expectError(await ask('/v7/connections', expired), 'auth/token-expired');
    expectError(await ask('/api/v7/connections', expired), 'auth/token-expired');
    expectError(await ask('/v6/connections', expired), 'auth/unauthorized');
    expectError(await ask(`/v7/${projectId}/connections`, expired), 'auth/unauthorized');
    const forged = bearer(`${(await issuer.token()).slice(0, -4)}AAAA`);
    expectError(await ask('/v7/connections', forged), 'auth/unauthorized');
  });

  it('recognises an expired token even after its key was removed', async () => {
    const past = Math.floor(Date.now() / 1000) - 60;
    const expired = bearer(await issuer.token({ iat: past - 600, exp: past }));
    const valid = bearer(await issuer.token());
    await issuer.rotate({ keepOld: false });
    // The gateway fetches the keys again at most once a second.
    await waitFor(async () => (await ask('/v7/connections', bearer(await issuer.token()))).status === 200, {
      what: 'the new key',
    });
    expectError(await ask('/v7/connections', expired), 'auth/token-expired');
    const answer = await ask(`/v7/${projectId}/connections`, expired);
    expectError(answer, 'auth/unauthorized');
    expect(answer.text).toContain('The access token has expired.');
    expectError(await ask('/v7/connections', valid), 'auth/unauthorized');
  });

  it('a read of a user is answered from that user’s project, and a token of another project counts as no token', async () => {
    const path = `/v7/users/${there.userId}/connections`;
    expect((await ask(path)).status).toBe(200);
    expect(reads.seen.at(-1)?.context).toMatchObject({ projectId: there.projectId, caller: null });
    // A wrong query is refused before the user is looked for, as under the long form.
    for (const id of ['nonsense', randomUUID()]) {
      const { status, text } = await ask(`/v7/users/${id}/connections?page=0`);
      expect([status, JSON.parse(text).field]).toEqual([400, 'page']);
      expectError(await ask(`/v7/users/${id}/connections`), 'connection/user-not-found');
    }
    await ask(path, bearer(await issuer.token()));
    expect(reads.seen.at(-1)?.context).toMatchObject({ projectId: there.projectId, caller: null });
    await ask(path, bearer(await issuer.token({ projectId: there.projectId })));
    expect(reads.seen.at(-1)?.context).toMatchObject({ projectId: there.projectId, caller: { userId } });
    const past = Math.floor(Date.now() / 1000) - 60;
    expect((await ask(path, bearer(await issuer.token({ exp: past })))).status).toBe(200);
  });

  it('a read of a user ignores a token of a deleted project, if the user is of another project', async () => {
    const deleted = randomUUID();
    issuer.projects.push({
      projectId: deleted,
      limits: {},
      webOrigins: [],
      publicProfiles: 'card',
      publicConnections: true,
      isDeleted: true,
    });
    const { port } = await test.another();
    const headers = bearer(await issuer.token({ projectId: deleted }));
    expectError(await send(port, { path: '/v7/connections', headers }), 'project/not-found');
    const answer = await send(port, { path: `/v7/users/${there.userId}/connections`, headers });
    expect(answer.status).toBe(200);
    expect(reads.seen.at(-1)?.context).toMatchObject({ projectId: there.projectId, caller: null });
  });

  it('an unknown user or a malformed id gets the not-found error of the operation', async () => {
    expectError(await ask(`/v7/users/${randomUUID()}/connections`), 'connection/user-not-found');
    expectError(await ask('/v7/users/nonsense/connections'), 'connection/user-not-found');
  });

  it('do not exist for any other operation', async () => {
    for (const path of [
      `/v7/users/${there.userId}`,
      '/v7/connections/x/y/z',
      '/connections',
      '/v7/blocks/x',
    ]) {
      expectError(await ask(path), 'route/not-found');
    }
    expectError(await ask('/v7/collections/root'), 'project/invalid-id');
    const wrong = await send(test.gateway.port, { method: 'PUT', path: '/v7/blocks' });
    expectError(wrong, 'route/method-not-allowed');
    expect(wrong.headers.allow).toBe('GET, HEAD, OPTIONS');
  });
});
