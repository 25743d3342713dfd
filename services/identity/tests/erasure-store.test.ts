import { randomUUID } from 'node:crypto';
import { userCreated, userUpdated } from '@kith/contracts';
import type { AnyCollection } from '@kith/store';
import { openDocuments } from '@kith/store/open';
import { handlerEngines } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { audits } from '../src/store/collections/audits.ts';
import type { IdentityStore, User } from '../src/store/index.ts';
import { userDeletedEvent, userEvent, userEvents } from '../src/user-events.ts';
import { dumpStore } from './support/raw-store.ts';
import { storeForEach } from './support/suite.ts';
import { makeUser } from './support/users.ts';

const at = new Date('2026-04-01T00:00:00.000Z');

describe.each(handlerEngines())('erasure in the store on %s', (engine) => {
  let store: IdentityStore;

  const place = storeForEach(engine, (opened) => {
    store = opened;
  });

  const add = async (fields: Partial<User> = {}) => {
    const user = makeUser(fields);
    await store.users.add(user, userEvent(userCreated, user));
    return user;
  };
  const remove = (user: User) => store.erasure.remove(user, userDeletedEvent(user, at));
  const publish = async () => {
    const events = await store.outbox.unpublished(1000);
    await store.outbox.markPublished(events.map(({ key }) => key));
    return events.map(({ event }) => event);
  };

  test('removes the user from all look-ups, and frees its names immediately', async () => {
    const user = await add({ foreignId: 'f' });
    const other = await add({ projectId: user.projectId });
    const { projectId, id, email, username } = user;
    expect(await remove(user)).toBe('stored');
    expect(await store.users.find(projectId, id)).toBeNull();
    expect(await store.users.findMany(projectId, [id, other.id])).toEqual([other]);
    expect(await store.users.findByEmail(projectId, email ?? '')).toBeNull();
    expect(await store.people.findByUsername(projectId, username ?? '')).toBeNull();
    expect(await store.people.findByForeignId(projectId, 'f')).toBeNull();
    const range = { from: { skip: 0 }, limit: 10 };
    expect(await store.people.list(projectId, '', range)).toEqual({ rows: [other], total: 1 });
    const hiddenAmong = async () => new Set<string>();
    const how = { limit: 5, hiddenAmong, deadline: Date.now() + 10_000 };
    expect(await store.people.suggest(projectId, 'zoe', how)).toEqual([other]);
    await store.users.touch(projectId, id, new Date());
    const left = (await dumpStore(place.config())).users?.filter((row) => row.userId === id);
    for (const row of left ?? []) expect(row).not.toHaveProperty('lastActive');
    await add({ projectId, email, username, foreignId: 'f' });
  });

  test('keeps the id, the events and a mark until the last event is published, and then only the last event', async () => {
    const user = await add();
    const renamed = { ...user, name: 'Renamed', rev: 2, seq: 2 };
    await store.users.update(renamed, userEvent(userUpdated, renamed));
    expect(await remove(renamed)).toBe('stored');
    const { projectId, id: userId } = user;
    const deleted = { projectId, userId, seq: 3, deletedAt: at };
    expect(await store.erasure.unfinished(10)).toEqual([deleted]);
    expect(await store.erasure.finish(deleted)).toBe(false);
    const users = JSON.stringify((await dumpStore(place.config())).users?.map(({ outbox, ...rest }) => rest));
    for (const value of [user.email, user.username, user.bio, user.passwordHash, 'Renamed', 'zoe']) {
      expect(users).not.toContain(value);
    }
    await store.outbox.unpublished(1000);
    expect(await store.erasure.finish(deleted)).toBe(false);
    const events = await publish();
    expect(events.map(({ type, aggregate }) => [type, aggregate.seq])).toEqual([
      ['user.created', 1],
      ['user.updated', 2],
      ['user.deleted', 3],
    ]);
    expect(events[2]).toMatchObject({ projectId, actorId: userId, data: { id: userId } });
    const other = await add();
    // This returns `false` because the user's earlier events have to be erased first.
    expect(await store.erasure.finish(deleted)).toBe(false);
    const { range, last } = userEvents(deleted);
    const published = (await store.outbox.published(range, 10)).map(({ key }) => key);
    expect(published.at(-1)).toBe(last);
    await store.outbox.forget(published.slice(0, -1));
    expect(await store.erasure.finish(deleted)).toBe(true);
    expect(await store.erasure.finish(deleted)).toBe(true);
    expect(await store.erasure.unfinished(10)).toEqual([]);
    const dump = await dumpStore(place.config());
    expect(dump.users).toHaveLength(1);
    const rows = JSON.stringify(dump);
    for (const value of [user.email, user.username, user.foreignId, 'Renamed'])
      expect(rows).not.toContain(value);
    expect(JSON.stringify(dump.events)).toContain('user.deleted');
    expect(await store.users.find(other.projectId, other.id)).toEqual(other);
    expect((await publish()).map(({ aggregate }) => aggregate.id)).toEqual([other.id]);
  });

  test('marks the last event, so that events of a later user with the same id do not look like a conflict', async () => {
    const { projectId, id: userId, ...user } = await add();
    expect(await remove({ ...user, projectId, id: userId })).toBe('stored');
    await publish();
    const deleted = { projectId, userId, seq: 2, deletedAt: at };
    const kept = await store.outbox.published(userEvents(deleted).range, 10);
    await store.outbox.forget(kept.slice(0, -1).map(({ key }) => key));
    expect(await store.erasure.finish(deleted)).toBe(true);
    const again = await add({ projectId, id: userId });
    const renamed = { ...again, name: 'Renamed', rev: 2, seq: 2 };
    await store.users.update(renamed, userEvent(userUpdated, renamed));
    const found = await store.outbox.unpublished(10);
    expect(found.map(({ event, conflict }) => [event.type, conflict])).toEqual([
      ['user.created', undefined],
      ['user.updated', undefined],
    ]);
  });

  test('returns `stale` for another revision, an unknown user and a deleted user', async () => {
    const user = await add();
    const renamed = { ...user, name: 'Renamed', rev: 2, seq: 2 };
    await store.users.update(renamed, userEvent(userUpdated, renamed));
    expect(await remove(user)).toBe('stale');
    expect(await remove(makeUser())).toBe('stale');
    expect(await remove({ ...renamed, projectId: randomUUID() })).toBe('stale');
    expect(await store.users.find(user.projectId, user.id)).toEqual(renamed);
    expect(await remove(renamed)).toBe('stored');
    expect(await remove(renamed)).toBe('stale');
    expect(await publish()).toHaveLength(3);
  });

  test('if many simultaneous deletions and changes have the same revision, makes only one of them', async () => {
    for (let round = 0; round < 5; round++) {
      const user = await add();
      const changes = Array.from({ length: 5 }, (_, index) => ({
        ...user,
        name: `N ${index}`,
        rev: 2,
        seq: 2,
      }));
      const outcomes = await Promise.all([
        ...changes.slice(0, 2).map((after) => store.users.update(after, userEvent(userUpdated, after))),
        remove(user),
        remove(user),
        ...changes.slice(2).map((after) => store.users.update(after, userEvent(userUpdated, after))),
      ]);
      expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(1);
      const isDeleted = outcomes.slice(2, 4).includes('stored');
      expect((await store.users.find(user.projectId, user.id)) === null).toBe(isDeleted);
      expect((await publish()).map(({ aggregate }) => aggregate.seq).sort()).toEqual([1, 2]);
    }
  });

  test('returns at most the given number of unfinished erasures, earliest deletion first', async () => {
    const users = [await add(), await add(), await add()];
    for (const [index, user] of users.entries()) {
      await store.erasure.remove(user, userDeletedEvent(user, new Date(at.getTime() - index)));
    }
    const unfinished = await store.erasure.unfinished(2);
    expect(unfinished.map(({ userId }) => userId)).toEqual([users[2]?.id, users[1]?.id]);
  });

  test('leaves no field of a newer version in the rows of the audit log', async () => {
    const newer: AnyCollection = { ...audits, schema: z.looseObject({}) };
    await using undo = new AsyncDisposableStack();
    const ahead = await openDocuments(place.config(), { collections: [newer] });
    undo.defer(() => ahead.close());
    const [projectId, userId] = [randomUUID(), randomUUID()];
    await store.audits.add({
      ...{ id: randomUUID(), at: at.toISOString(), actor: `user:${userId}`, action: 'identity/remove-me' },
      ...{ projectId, target: null, ip: '', requestId: '', outcome: 'success', count: 1 },
    });
    const stored = async () => (await ahead.range(newer, { above: '', below: '~', limit: 1 }))[0]!;
    const target = await stored();
    await ahead.change([{ in: newer, target, set: { ...target.doc, device: 'Zoe’s' } }]);
    await store.audits.erase({ projectId, userId }, () => 'hash');
    const { doc } = await stored();
    expect(doc).toMatchObject({ actor: 'erased:hash' });
    expect(doc).not.toHaveProperty('device');
  });
});
