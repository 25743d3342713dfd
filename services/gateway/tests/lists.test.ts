import { randomUUID } from 'node:crypto';
import { addEntity, type Collection, collectionWithEntities, listSubCollections } from '@kith/contracts';
import { serveInternal, successReply } from '@kith/service';
import { handlerEngines } from '@kith/testing';
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
  userId,
} from './harness.ts';

const collectionOf = (entityCount: number): Collection => ({
  id: randomUUID(),
  projectId,
  userId,
  parentId: randomUUID(),
  name: 'Reading',
  isRoot: false,
  entityCount,
  createdAt: new Date().toISOString(),
  updatedAt: new Date().toISOString(),
});

// spec#existing-clients-lists: how the gateway turns a page of collections into lists. The other tests of lists are in the
// repository's tests/lists.test.ts.
describe.each(handlerEngines())('lists on %s', (engine) => {
  let test: TestGateway;
  let authorization: string;
  let parents: { seen: Seen[] };
  let page: Collection[] = [];
  const gone = collectionOf(1);
  const asked: unknown[] = [];
  const path = `/api/v6/${projectId}/lists/${randomUUID()}/sub-lists`;
  const ask = () => send(test.gateway.port, { path: `${path}?limit=48`, headers: { authorization } });
  const idsOf = (id: string) => Array.from({ length: 1_000 }, (_, index) => `${id} ${index}`);

  beforeAll(async () => {
    test = await startTestGateway(engine, { env: { RATE_LIMIT_SCALE: '0' } });
    const issuer = await serveIssuer(test.bus);
    authorization = `Bearer ${await issuer.token()}`;
    parents = await serveEcho(test.bus, listSubCollections, () => successReply(200, page, {}));
  });
  afterAll(() => test[Symbol.asyncDispose]());

  it('cannot be shown until the collections service has answered about their ids, unless they are empty', async () => {
    page = [collectionOf(0)];
    expect(JSON.parse((await ask()).text)).toEqual([{ ...page[0], entityIds: [], entities: [] }]);
    page = [collectionOf(1)];
    expectError(await ask(), 'gateway/unavailable');
  });

  it('answer 504, not 503, if a change was made and the list cannot be shown', async () => {
    const changed = collectionOf(1);
    await serveEcho(test.bus, addEntity, () => successReply(201, { collection: changed }, {}));
    const answer = await send(test.gateway.port, {
      method: 'PATCH',
      path: `/api/v6/${projectId}/lists/${changed.id}/add-entity`,
      headers: { authorization, 'content-type': 'application/json' },
      body: '{"entityId":"one"}',
    });
    expectError(answer, 'gateway/timeout');
  });

  it('show the ids of about 20,000 entities in total, and leave out deleted collections', async () => {
    await serveInternal(
      {
        spec: collectionWithEntities,
        handle: async (one: { collectionId: string }) => {
          asked.push(one);
          const collection = page.find(({ id }) => id === one.collectionId && id !== gone.id);
          return { collection: collection ? { ...collection, entityIds: idsOf(collection.id) } : null };
        },
      },
      { ...test.runtime, app: {}, checkOutput: true },
    );
    page = [gone, ...Array.from({ length: 47 }, () => collectionOf(1_000))];
    const lists = JSON.parse((await ask()).text) as (Collection & { entityIds: string[]; entities: [] })[];
    expect(lists).toEqual(
      page.slice(1).map((one, index) => ({
        ...one,
        // The gateway asks for sixteen collections at the same time. After the second round, the answer has over 20,000 ids, so
        // the lists of the third round show none.
        entityIds: index < 31 ? idsOf(one.id) : [],
        entities: [],
      })),
    );
    expect(asked).toHaveLength(32);
    expect(asked[1]).toEqual({ projectId, userId, collectionId: page[1]?.id });
    expect(parents.seen.at(-1)?.context).toMatchObject({ query: 'limit=48', caller: { userId } });
  });
});
