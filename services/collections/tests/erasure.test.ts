import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import {
  addEntity,
  createSubCollection,
  eventSubject,
  getRootCollection,
  isEntitySaved,
  removeEntity,
  userDeleted,
} from '@kith/contracts';
import { makeEvent } from '@kith/service';
import { handlerEngines, waitFor } from '@kith/testing';
import { MongoClient } from 'mongodb';
import { describe, expect, test } from 'vitest';
import type { Owner } from '../src/collection.ts';
import { deleteImported, seedOrphan } from './support/raw.ts';
import { startWorld, type World } from './support/world.ts';

/** Everything that the store holds, as one text. */
async function contentOf({ store }: World): Promise<string> {
  if (store.kind === 'sqlite') {
    const db = new DatabaseSync(store.file, { readOnly: true });
    const tables = ['collections', 'endedCollections', 'entities', 'events'];
    const rows = tables.map((table) => db.prepare(`SELECT * FROM ${table}`).all());
    db.close();
    return JSON.stringify(rows);
  }
  await using client = new MongoClient(store.url);
  const db = client.db(store.database);
  const names = (await db.collections()).map(({ collectionName }) => collectionName);
  const kept = names.filter((name) => name !== 'erased');
  return JSON.stringify(await Promise.all(kept.map((name) => db.collection(name).find().toArray())));
}

/** The event which says that an account has ended. */
function endOf({ projectId, userId }: Owner) {
  return makeEvent(userDeleted, {
    projectId,
    actorId: userId,
    aggregate: { type: 'user', id: userId, seq: 2 },
    data: { id: userId },
    occurredAt: new Date(),
  });
}

async function publishEnd({ projectId, runtime: { bus } }: World, userId: string): Promise<void> {
  const event = endOf({ projectId, userId });
  const body = new TextEncoder().encode(JSON.stringify(event));
  await bus.publish({ subject: eventSubject(bus.prefix, event), id: event.id, body });
}

describe.each(handlerEngines())('a deleted user (%s)', (engine) => {
  test('leaves no data behind, and other users lose nothing', async () => {
    await using world = await startWorld(engine, { sweepEveryMs: 100 });
    const [gone, stays] = [randomUUID(), randomUUID()];
    for (const userId of [gone, stays]) {
      const root = await world.collection(getRootCollection, { userId });
      const body = { collectionName: `Secret of ${userId}` };
      const folder = await world.collection(createSubCollection, { userId, collectionId: root.id, body });
      await world.call(addEntity, {
        userId,
        collectionId: folder.id,
        body: { entityId: 'e', metadata: { of: userId } },
      });
    }
    const owner = { projectId: world.projectId, userId: gone };
    await seedOrphan(world.store, owner, `Secret of ${gone}`);
    await deleteImported(world.store, owner);
    await publishEnd(world, gone);
    // In addition to the root's tree, the store holds a collection whose parent is missing. This collection has to be erased,
    // too.
    await waitFor(async () => !(await contentOf(world)).includes(`Secret of ${gone}`), {
      timeoutMs: 25_000,
      what: 'the erasure',
    });
    const saved = await world.call(isEntitySaved, { userId: gone, query: 'entityId=e' });
    expect(saved.json).toEqual({ saved: false, collections: [] });
    const others = await world.call(isEntitySaved, { userId: stays, query: 'entityId=e' });
    expect(others.json).toMatchObject({ saved: true, collections: [{ name: `Secret of ${stays}` }] });

    // A late request makes a root after the end of the account. This root is erased as well.
    await world.collection(getRootCollection, { userId: gone });
    await waitFor(async () => !(await contentOf(world)).includes(gone), {
      timeoutMs: 100_000,
      what: 'the erasure of late data',
    });
  }, 150_000);

  test('loses only their own events, even if the metadata of other users’ entities names the deleted user', async () => {
    await using world = await startWorld(engine, { sweepEveryMs: 100 });
    const [gone, stays] = [randomUUID(), randomUUID()];
    const roots: Record<string, string> = {};
    for (const userId of [gone, stays]) {
      const { id } = await world.collection(getRootCollection, { userId });
      const body = { entityId: 'e', metadata: { userId: gone, note: `Secret of ${userId}` } };
      await world.call(addEntity, { userId, collectionId: id, body });
      await world.call(removeEntity, { userId, collectionId: id, entityId: 'e' });
      roots[userId] = id;
    }
    await publishEnd(world, gone);
    await waitFor(async () => !(await contentOf(world)).includes(`Secret of ${gone}`), {
      timeoutMs: 25_000,
      what: 'the erasure',
    });
    const seen = await world.events();
    const seqsOf = (userId: string) =>
      seen.filter(({ aggregate }) => aggregate.id === roots[userId]).map(({ aggregate }) => aggregate.seq);
    // Of the ended account's events, only the last event stays, because it says that the account's root is gone.
    await waitFor(() => seqsOf(gone).length === 1 && seqsOf(stays).length === 3);
    expect(seqsOf(gone)).toEqual([4]);
    expect(seqsOf(stays)).toEqual([1, 2, 3]);
    expect(await contentOf(world)).toContain(`Secret of ${stays}`);
  }, 60_000);
});
