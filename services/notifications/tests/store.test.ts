import { randomUUID } from 'node:crypto';
import { createStore, handlerEngines } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import {
  append,
  type Entry,
  expire,
  type NewNotification,
  type Owner,
  openStream,
  remove,
} from '../src/feed.ts';
import { type NotificationStore, openStore } from '../src/store/index.ts';

function notification(owner: Owner, changes: Partial<NewNotification> = {}): NewNotification {
  const metadata = {
    connectionId: randomUUID(),
    initiatorId: randomUUID(),
    initiatorName: '$set.x {}',
    initiatorUsername: null,
    initiatorAvatar: null,
  };
  const common = { type: 'connection-request', createdAt: 1_000, keepUntil: 9_000 } as const;
  return { ...owner, id: randomUUID(), metadata, ...common, ...changes };
}

async function add(
  store: NotificationStore,
  owner: Owner,
  changes: Partial<NewNotification> = {},
): Promise<Entry> {
  const before = await store.feed(owner);
  const { feed, entry } = append(before, notification(owner, changes));
  expect(await store.change(before, { feed, put: [entry] })).toBe(true);
  return entry;
}

const newOwner = (): Owner => ({ projectId: randomUUID(), userId: randomUUID() });

describe.each(handlerEngines())('the store (%s)', (engine) => {
  it('stores entries in the order of the feed, separately for each owner', async () => {
    await using place = await createStore(engine);
    const store = await openStore(place.config);
    const owner = newOwner();
    const other = { ...owner, userId: randomUUID() };
    expect(await store.feed(owner)).toMatchObject({
      seq: 0,
      total: 0,
      unread: 0,
      streams: [],
      owner,
    });
    const entries: Entry[] = [];
    for (let made = 0; made < 5; made++) entries.push(await add(store, owner));
    await add(store, other);
    expect(await store.feed(owner)).toMatchObject({ seq: 5, total: 5, unread: 5 });
    const newestFirst = entries.toReversed();
    expect(await store.newest(owner, { upTo: 5, skip: 0, limit: 10 })).toEqual(newestFirst);
    expect(await store.newest(owner, { upTo: 4, skip: 1, limit: 2 })).toEqual(newestFirst.slice(2, 4));
    expect(await store.following(owner, { after: 1, upTo: 4, limit: 10 })).toEqual(entries.slice(1, 4));
    expect(await store.following(owner, { after: 0, upTo: 5, limit: 2 })).toEqual(entries.slice(0, 2));
    const [first] = entries as [Entry];
    expect(await store.find(owner, [first.id])).toEqual([first]);
    expect(await store.find(other, [first.id])).toEqual([]);
    expect(await store.find({ ...owner, projectId: randomUUID() }, [first.id])).toEqual([]);
    expect(await store.requestOf(owner, String(first.metadata.connectionId))).toEqual(first);
    expect(await store.requestOf(other, String(first.metadata.connectionId))).toBeNull();
    await store.close();
    const again = await openStore(place.config);
    expect(await again.newest(owner, { upTo: 5, skip: 0, limit: 10 })).toEqual(newestFirst);
    await again.close();
  });

  it('finds the notification of an acceptance by its own id, and not as the notification of the request', async () => {
    await using place = await createStore(engine);
    await using stack = new AsyncDisposableStack();
    const store = stack.adopt(await openStore(place.config), (one) => one.close());
    const owner = newOwner();
    const entry = await add(store, owner, { type: 'connection-accepted' });
    expect(await store.find(owner, [entry.id])).toEqual([entry]);
    expect(await store.requestOf(owner, String(entry.metadata.connectionId))).toBeNull();
  });

  it('refuses a change of a feed that has changed since it was read', async () => {
    await using place = await createStore(engine);
    await using stack = new AsyncDisposableStack();
    const open = async () => stack.adopt(await openStore(place.config), (one) => one.close());
    const stores = [await open(), await open()];
    const owner = newOwner();
    const made = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const store = stores[index % 2] as NotificationStore;
        const before = await store.feed(owner);
        const { feed, entry } = append(before, notification(owner));
        return { before, entry, isMade: await store.change(before, { feed, put: [entry] }) };
      }),
    );
    const won = made.filter(({ isMade }) => isMade);
    const { seq, total, unread } = await (stores[0] as NotificationStore).feed(owner);
    expect([seq, total, unread]).toEqual([won.length, won.length, won.length]);
    const rows = await (stores[1] as NotificationStore).newest(owner, { upTo: 10, skip: 0, limit: 10 });
    expect(rows.map(({ id }) => id).sort()).toEqual(won.map(({ entry }) => entry.id).sort());
    expect(won.length).toBeGreaterThan(0);
  });

  it('changes and removes entries with the feed, and leaves no trace of a removed entry', async () => {
    await using place = await createStore(engine);
    await using stack = new AsyncDisposableStack();
    const store = stack.adopt(await openStore(place.config), (one) => one.close());
    const owner = newOwner();
    const [first, second] = [await add(store, owner), await add(store, owner)];
    const read = { ...first, readAt: 2_000 };
    let before = await store.feed(owner);
    expect(await store.change(before, { feed: { ...before, unread: 1 }, put: [read] })).toBe(true);
    expect(await store.find(owner, [first.id])).toEqual([read]);
    before = await store.feed(owner);
    expect(await store.change(before, { feed: remove(before, [second]), remove: [second] })).toBe(true);
    expect(await store.find(owner, [second.id])).toEqual([]);
    expect(await store.requestOf(owner, String(second.metadata.connectionId))).toBeNull();
    expect(await store.newest(owner, { upTo: 2, skip: 0, limit: 10 })).toEqual([read]);
    expect(await store.following(owner, { after: 0, upTo: 2, limit: 10 })).toEqual([read]);
    before = await store.feed(owner);
    expect(await store.change(before, { feed: openStream(before, 's') })).toBe(true);
    expect(await store.feed(owner)).toMatchObject({ seq: 2, total: 1, unread: 0, streams: ['s'] });
  });

  it('finds expired entries, the oldest first', async () => {
    await using place = await createStore(engine);
    await using stack = new AsyncDisposableStack();
    const store = stack.adopt(await openStore(place.config), (one) => one.close());
    const [owner, other] = [newOwner(), newOwner()];
    const old = await add(store, owner, { keepUntil: 5_000 });
    await add(store, owner, { keepUntil: 7_000 });
    await add(store, other, { keepUntil: 7_000 });
    expect(await store.expired(6_000, 10)).toEqual([old]);
    expect(await store.expired(8_000, 2)).toHaveLength(2);
    const before = await store.feed(owner);
    await store.change(before, { feed: expire(before, [old]), remove: [old] });
    expect(await store.expired(6_000, 10)).toEqual([]);
    expect(await store.feed(owner)).toMatchObject({ total: 1, unread: 1, expiredTo: 1 });
  });

  it('remembers a withdrawn connection, but only in its project', async () => {
    await using place = await createStore(engine);
    await using stack = new AsyncDisposableStack();
    const store = stack.adopt(await openStore(place.config), (one) => one.close());
    const [projectId, connectionId] = [randomUUID(), randomUUID()];
    expect(await store.isWithdrawn(projectId, [connectionId])).toBe(false);
    await store.withdraw(projectId, connectionId, Date.now() + 60_000);
    await store.withdraw(projectId, connectionId, Date.now() + 60_000);
    await store.sweep();
    expect(await store.isWithdrawn(projectId, [connectionId])).toBe(true);
    expect(await store.isWithdrawn(randomUUID(), [connectionId])).toBe(false);
  });
});
