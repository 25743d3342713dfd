import { methodsOf, operations } from '@kith/contracts';
import { handlerEngines, sharedPlatform, type TestPlatform, type TestUser, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { http } from './support/http.ts';
import { filePart, multipart } from './support/multipart.ts';
import { sampleBody, sampleQuery } from './support/samples.ts';

// Every operation that takes a user's token. The list comes from the contracts, so it contains every new operation automatically.
const guarded = operations.filter(({ auth, scope }) => auth === 'user' && scope === 'project');
const withIds = operations.filter(
  ({ auth, scope, params }) =>
    (auth === 'user' || auth === 'optional') && scope === 'project' && Object.keys(params.shape).length > 0,
);

describe.each(handlerEngines())('tenants (%s)', (engine) => {
  let platform: TestPlatform;
  let mine: TestUser;
  let theirs: TestUser;
  let ids: Record<string, string>;
  /** What the user of project B sees. No request in this suite may change this view. */
  let view: unknown[];

  beforeAll(async () => {
    platform = await sharedPlatform(engine);
    const [a, b] = [await platform.createProject('A'), await platform.createProject('B')];
    mine = await platform.createUser(a.id, { name: 'Mine' });
    theirs = await platform.createUser(b.id, { name: 'Theirs' });
    const friend = await platform.createUser(b.id, { name: 'Friend' });
    const asker = await platform.createUser(b.id, { name: 'Asker' });
    await platform.connect(theirs, friend);
    const request = await platform.call<{ id: string }>('POST', `/v7/${b.id}/users/${theirs.id}/connection`, {
      token: asker.accessToken,
      body: { message: 'Hello' },
    });
    const collection = await platform.createCollection(theirs, 'Theirs');
    const { type, body } = multipart([filePart('Theirs')]);
    const stored = await http(platform.url, {
      method: 'POST',
      path: `/v7/${b.id}/storage/files`,
      token: theirs.accessToken,
      headers: { 'content-type': type },
      body,
    });
    const file = stored.json() as { fileId: string };
    // Waits for all events, because an event that arrives later would look like a change.
    const counted = () =>
      platform.call<number>('GET', `/v7/${b.id}/app-notifications/count`, { token: theirs.accessToken });
    await waitFor(async () => (await counted()) === 2, { what: 'their notifications' });
    ids = {
      userId: theirs.id,
      connectionId: request.id,
      collectionId: collection.id,
      entityId: 'entity-1',
      sessionId: sessionOf(theirs.accessToken),
      notificationId: '00000000-0000-4000-8000-000000000001',
      fileId: file.fileId,
      factorId: '00000000-0000-4000-8000-000000000002',
    };
    view = await theirView();
    // Checks that the view contains the objects that were made above. Otherwise, comparing views would prove nothing.
    expect(JSON.stringify(view)).toContain(collection.id);
  });
  afterAll(() => platform?.stop());

  const path = (of: (typeof operations)[number]) =>
    of.path.replaceAll(/:(\w+)/g, (_, name: string) => {
      if (!ids[name]) throw new Error(`The path of ${of.name} names ${name}: give this test an id for it.`);
      return ids[name];
    }) + sampleQuery(of);

  /** Everything that project B's user can read, apart from fields that change with time. */
  const theirView = async () => {
    const reads = operations.filter(
      (one) =>
        methodsOf(one).includes('GET') &&
        one.scope === 'project' &&
        one.auth === 'user' &&
        one.kind !== 'stream' &&
        !one.path.includes(':notificationId'),
    );
    const answers = await Promise.all(
      reads.map((one) =>
        http(platform.url, { path: `/v7/${theirs.projectId}${path(one)}`, token: theirs.accessToken }),
      ),
    );
    return answers.map(({ status, text }, index) => [
      reads[index]?.name,
      status,
      text
        .replaceAll(/"(lastActive|lastUsedAt|exportedAt)":"[^"]*"/g, '')
        // Each export adds a row about itself to the audit log, so these rows are removed from the view.
        .replaceAll(/\{[^{}]*"action":"identity\.export-user"[^{}]*\},?/g, ''),
    ]);
  };

  const send = (of: (typeof operations)[number], projectId: string) => {
    const [method] = methodsOf(of);
    return http(platform.url, {
      method,
      path: `/v7/${projectId}${path(of)}`,
      token: mine.accessToken,
      ...(method === 'GET' || method === 'DELETE' ? {} : { body: sampleBody(of) }),
    });
  };

  it.each(guarded.map((one) => [one.name, one] as const))(
    '%s: a token of another project gets 403',
    async (_, one) => {
      const answer = await send(one, theirs.projectId);
      expect([answer.status, answer.json()]).toEqual([
        403,
        { error: 'This token does not allow that.', code: 'auth/forbidden' },
      ]);
      expect(await theirView()).toEqual(view);
    },
  );

  it.each(withIds.map((one) => [one.name, one] as const))(
    '%s: ids of another project get the same refusal as unknown ids',
    async (_, one) => {
      const answer = await send(one, mine.projectId);
      // If the parent collection does not exist for the caller, the answer is 400 (spec#collections-create). No answer may
      // reveal whether the other project has an object with this id.
      expect([
        403,
        404,
        ...(one.name === 'collections.create-sub-collection' ? [400] : []),
        ...(methodsOf(one).includes('DELETE') && one.name === 'connections.unblock' ? [204] : []),
      ]).toContain(answer.status);
      expect(await theirView()).toEqual(view);
    },
  );
});

/** The id of the session that an access token belongs to. */
function sessionOf(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sid;
}
