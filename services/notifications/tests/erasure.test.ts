import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { Turns } from '@kith/base';
import { replayedHeader } from '@kith/bus';
import {
  createNotifications,
  type EventEnvelope,
  type InternalOperationSpec,
  internalSubject,
  knownUsers,
  markAllNotificationsAsRead,
  markNotificationAsRead,
  openFeed,
  type PublicUser,
  userDeleted,
  usersByIds,
  userUpdated,
} from '@kith/contracts';
import { ask, makeEvent, successReply } from '@kith/service';
import { callerOf, callOperation, dumpStore, handlerEngines, waitFor } from '@kith/testing';
import { MongoClient } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { changeFeed } from '../src/change-feed.ts';
import { eraseDue } from '../src/eraser.ts';
import { expireOld } from '../src/expire-old.ts';
import { append, type Feed } from '../src/feed.ts';
import { nobody } from '../src/initiator.ts';
import { notificationIdOf } from '../src/notification-id.ts';
import { eventsOf } from '../src/store/place.ts';
import { newUser, userCreatedOf } from './support/events.ts';
import { World } from './support/world.ts';

const patience = { timeoutMs: 25_000 };
const tenMinutes = 10 * 60_000;
/** How far the clocks of two replicas may differ. */
const anHour = 60 * 60_000;

/** Everything in the store, as one text, without the marks of users whose accounts have ended. */
async function contentOf({ place }: World): Promise<string> {
  const { endedUsers: _, profiles = [], ...others } = await dumpStore(place);
  const isMark = (row: Record<string, unknown>) => String(row.doc ?? row.d).startsWith('{"user":null');
  return JSON.stringify([others, profiles.filter((row) => !isMark(row))]);
}

const common = ({ id, projectId }: PublicUser, seq: number) => ({
  projectId,
  actorId: id,
  aggregate: { type: 'user', id, seq },
  occurredAt: new Date(),
});
const deletedOf = (user: PublicUser, occurredAt = new Date()) =>
  makeEvent(userDeleted, { ...common(user, 3), occurredAt, data: { id: user.id } });
const updatedOf = (user: PublicUser) => makeEvent(userUpdated, { ...common(user, 2), data: user });

/** Acts as an identity service that has no users. */
async function serveNobody({ runtime: { bus } }: World): Promise<void> {
  const serve = (spec: InternalOperationSpec, output: object) =>
    bus.serve(internalSubject(bus.prefix, spec), 'identity', async () => successReply(200, output, {}));
  await serve(usersByIds, { users: [] });
  await serve(knownUsers, { isProject: false, ids: [], foreignIds: [] });
}

/** The context that the service gives to its eraser. With it, a test can run the eraser at another time. */
const appOf = ({ runtime, store }: World) => ({
  store,
  bus: runtime.bus,
  relay: { kick() {} },
  turns: new Turns(),
  epoch: 0,
  keepMs: 1,
  now: Date.now,
});

/** The number of profiles and of marks of forgotten users that will expire in the future. */
async function lastingProfiles({ place }: World): Promise<number> {
  if (place.kind === 'sqlite') {
    using db = new DatabaseSync(place.file, { timeout: 5_000 });
    return Number(db.prepare('SELECT count(*) AS n FROM profiles WHERE expires > ?').get(Date.now())?.n);
  }
  await using client = new MongoClient(place.url);
  const profiles = client.db(place.database).collection('profiles');
  return await profiles.countDocuments({ expiresAt: { $gt: new Date() } });
}

describe.each(handlerEngines())('a user whose account has ended (%s)', (engine) => {
  test('leaves no data behind, and other users keep their notifications and counts', async () => {
    await using world = await World.start(engine, { instances: 2 });
    const [gone, stays, reader] = await Promise.all(
      ['Vanya', 'Stays', 'Reader'].map((name) => world.user(name)),
    );
    if (!gone || !stays || !reader) throw new Error('They are there.');
    const lives = [world.life(gone, stays), world.life(gone, reader), world.life(stays, reader)];
    const toGone = Array.from({ length: 3 }, () => world.life(stays, gone));
    const withdrawn = world.life(gone, stays);
    await world.publish(...lives.map(({ requested }) => requested), withdrawn.requested);
    await world.publish(...toGone.flatMap(({ requested, accepted }) => [requested, accepted]));
    await waitFor(async () => (await world.count(gone.id)) === 3 && (await world.count(stays.id)) === 5);
    await waitFor(async () => (await world.count(reader.id)) === 2);
    // The notification of the withdrawn request is removed, but its `notification.created` event stays.
    await world.publish(withdrawn.withdrawn);
    await waitFor(async () => (await world.count(stays.id)) === 4);
    await world.call(markAllNotificationsAsRead, reader.id);
    await world.call(markAllNotificationsAsRead, gone.id);
    const stream = { projectId: world.projectId, userId: gone.id, streamId: randomUUID() };
    await ask(world.runtime.bus, openFeed, stream, { requestId: 't', deadline: Date.now() + 5_000 });
    expect(await contentOf(world)).toContain(gone.id);
    const [toStays, toReader] = [await world.list(stays.id), await world.list(reader.id)];

    await world.publish(deletedOf(gone));
    await waitFor(async () => !(await contentOf(world)).includes(gone.id), {
      ...patience,
      what: 'the erasure',
    });
    expect(await contentOf(world)).not.toMatch(/vanya/i);
    expect(await world.count(gone.id)).toBe(0);
    expect((await world.list(gone.id)).pagination.totalItems).toBe(0);

    const blank = {
      initiatorId: nobody,
      initiatorName: null,
      initiatorUsername: null,
      initiatorAvatar: null,
    };
    const expected = ({ data, pagination }: typeof toStays) => ({
      data: data.map((item) =>
        item.metadata.initiatorId === gone.id
          ? { ...item, metadata: { ...blank, connectionId: item.metadata.connectionId } }
          : item,
      ),
      pagination,
    });
    expect(await world.list(stays.id)).toEqual(expected(toStays));
    expect(await world.list(reader.id)).toEqual(expected(toReader));
    expect([await world.count(stays.id), await world.count(reader.id)]).toEqual([4, 0]);

    // If the end of the account is delivered again, nothing changes.
    await world.publish(deletedOf(gone));
    await world.quiet(stays);
    expect(await world.list(stays.id)).toEqual(expected(toStays));
  }, 60_000);

  test('is erased, but an application’s notifications with an "initiatorId" stay as they are', async () => {
    await using world = await World.start(engine);
    const { runtime, store, projectId } = world;
    const { bus } = runtime;
    const gone = await world.user('Vanya');
    // The keys of the application's events come before the keys of all other events. There are more such events than one step
    // of the eraser reads.
    const firsts = Array.from({ length: 6 }, (_, at) => ({
      ...newUser(projectId, 'First'),
      id: `00000000-0000-4000-8000-00000000000${at}`,
    }));
    const ids = firsts.map(({ id }) => id);
    await world.publish(...firsts.map(userCreatedOf));
    await waitFor(async () => (await store.profiles.find(projectId, ids)).size === ids.length);
    const stays = await world.user('Stays');
    const metadata = { initiatorId: gone.id };
    const count = 17;
    const notify = async (userId: string) => {
      for (let made = 0; made < count; made++) {
        const body = { userIds: [userId], type: 'order-shipped', metadata };
        const given = { projectId, body, serverKey: { keyId: randomUUID() } };
        expect((await callOperation(bus, createNotifications, given)).status).toBe(201);
      }
    };
    await Promise.all(ids.map(notify));
    await world.publish(world.life(gone, stays).requested, world.life(stays, gone).requested);
    await waitFor(async () => (await world.count(stays.id)) === 1 && (await world.count(gone.id)) === 1);
    const published = async (...userIds: string[]) => {
      const found = userIds.map((userId) => store.outbox.published(eventsOf({ projectId, userId }), 100));
      return (await Promise.all(found)).flat();
    };
    await waitFor(async () => (await published(...ids, stays.id)).length === ids.length * count + 1);
    const kept = await published(...ids);

    await world.publish(deletedOf(gone));
    await waitFor(async () => (await store.feed({ projectId, userId: gone.id })).read === undefined, {
      ...patience,
      what: 'the erasure',
    });
    const [blank] = await published(stays.id);
    expect(JSON.stringify(blank)).not.toContain(gone.id);
    expect(blank?.event).toMatchObject({ actorId: null, data: { metadata: { initiatorId: nobody } } });
    // The outbox and the bus still hold each of the application's events exactly once.
    expect(await published(...ids)).toEqual(kept);
    const events: EventEnvelope[] = [];
    await bus.consume({ durable: 'test-all', subjects: [`${bus.prefix}.event.>`] }, async (message) => {
      events.push(JSON.parse(new TextDecoder().decode(message.body)));
    });
    await waitFor(() => events.some(({ id }) => id === blank?.event.id));
    const own = events.filter(({ aggregate }) => ids.includes(aggregate.id) && aggregate.type === 'feed');
    expect(own.map(({ id }) => id).sort()).toEqual(kept.map(({ event }) => event.id).sort());
    expect((await world.list(String(ids[0]), 'limit=1')).data[0]?.metadata).toEqual(metadata);
  }, 60_000);

  test('does not appear in a stored answer that is sent again', async () => {
    await using world = await World.start(engine);
    const { projectId } = world;
    const [gone, other] = [await world.user('Vanya'), await world.user('Other')];
    const reader = await world.user('Reader');
    await world.publish(world.life(gone, reader).requested, world.life(other, reader).requested);
    await waitFor(async () => (await world.count(reader.id)) === 2);
    const caller = callerOf(reader.id);
    const { data } = await world.list(reader.id);
    const mark = (initiator: PublicUser) => {
      const item = data.find(({ metadata }) => metadata.initiatorId === initiator.id);
      return callOperation(world.runtime.bus, markNotificationAsRead, {
        ...{ projectId, caller, params: { notificationId: item?.id ?? '' } },
        idempotencyKey: `key of ${initiator.id}`,
      });
    };
    const isReplayed = ({ headers }: Awaited<ReturnType<typeof mark>>) => headers[replayedHeader];
    const [first, kept] = [await mark(gone), await mark(other)];
    expect(first.body.metadata).toMatchObject({ initiatorId: gone.id, initiatorName: 'Vanya' });
    const again = await mark(gone);
    expect([again.text, isReplayed(again)]).toEqual([first.text, 'true']);

    await world.publish(deletedOf(gone));
    await waitFor(async () => !(await contentOf(world)).includes(gone.id), {
      ...patience,
      what: 'the erasure',
    });
    const blank = await mark(gone);
    expect([blank.status, isReplayed(blank)]).toEqual([200, 'true']);
    expect(blank.text).not.toMatch(/vanya/i);
    expect(blank.text).not.toContain(gone.id);
    const { data: now } = await world.list(reader.id);
    expect(now).toContainEqual(blank.body);
    const unchanged = await mark(other);
    expect([unchanged.text, isReplayed(unchanged)]).toEqual([kept.text, 'true']);
  }, 60_000);

  test('is not restored by events that arrive after the end of the account', async () => {
    await using world = await World.start(engine);
    const [gone, stays] = [await world.user('Vanya'), await world.user('Stays')];
    const isForgotten = async () =>
      (await world.store.profiles.forgotten(world.projectId, [gone.id, stays.id])).has(gone.id);
    await world.publish(deletedOf(gone));
    await waitFor(isForgotten);
    // From now on, the eraser no longer looks for data of this user. So late events must not store any data.
    const { erasure } = world.store;
    await waitFor(async () => (await erasure.due(Date.now() + tenMinutes, 10)).length === 1);
    await eraseDue(appOf(world), { clock: () => Date.now() + anHour + 2 * tenMinutes });
    expect(await erasure.due(Date.now() + 2 * anHour, 10)).toEqual([]);
    const [asked, told, ended] = [world.life(gone, stays), world.life(stays, gone), world.life(stays, gone)];
    await world.publish(updatedOf(gone), asked.requested, told.requested, told.accepted, ended.blocked);
    await world.quiet(stays);
    await waitFor(async () => (await world.count(stays.id)) === 2);
    const { data } = await world.list(stays.id);
    expect(data.map(({ metadata }) => [metadata.initiatorId, metadata.initiatorName])).toEqual([
      [nobody, null],
      [nobody, null],
    ]);
    expect(data.map(({ id }) => id).sort()).toEqual(
      [notificationIdOf(asked.requested), notificationIdOf(told.accepted)].sort(),
    );
    expect(await world.store.profiles.find(world.projectId, [gone.id])).toEqual(new Map());
    expect(await contentOf(world)).not.toContain(gone.id);
    expect(await isForgotten()).toBe(true);
  }, 60_000);

  test('gets no new feed from an event that arrives after the mark has expired', async () => {
    await using world = await World.start(engine);
    await serveNobody(world);
    const { store, projectId } = world;
    const [known, stays, gone] = [await world.user('Known'), await world.user('Stays'), { id: randomUUID() }];
    const hasFeed = async ({ id: userId }: { id: string }) =>
      (await store.feed({ projectId, userId })).read !== undefined;
    await world.publish(world.life(stays, gone).withdrawn, world.life(stays, gone).blocked);
    await world.publish(world.life(stays, known).withdrawn);
    await world.quiet(stays);
    expect(await hasFeed(gone)).toBe(false);
    // An empty feed is stored for each of the two other users. If another process is adding the notification of the withdrawn
    // request at this moment, its change of the feed is refused. When the process tries again, it finds the withdrawal.
    expect(await Promise.all([known, stays].map(hasFeed))).toEqual([true, true]);
  });

  test('is erased even if the event that reports the end is delivered ten days late', async () => {
    await using world = await World.start(engine);
    await serveNobody(world);
    const gone = await world.user('Vanya');
    await world.publish(deletedOf(gone, new Date(Date.now() - 240 * anHour)));
    const { profiles } = world.store;
    await waitFor(async () => (await profiles.find(world.projectId, [gone.id])).size === 0);
    // An import may use the user's id again nine days after the end. So the user's mark must not stay for longer.
    expect(await lastingProfiles(world)).toBe(0);
  });

  test('may get data for ten more minutes; this data is erased, no matter how the replicas’ clocks differ', async () => {
    await using world = await World.start(engine);
    const { store, projectId } = world;
    const [gone, stays] = [await world.user('Vanya'), await world.user('Stays')];
    await world.publish(deletedOf(gone));
    await waitFor(async () => (await store.profiles.forgotten(projectId, [gone.id])).size === 1);
    await waitFor(async () => (await store.erasure.due(Date.now() + tenMinutes, 10)).length === 1);
    const metadata = {
      connectionId: randomUUID(),
      initiatorId: gone.id,
      initiatorName: 'Vanya',
      initiatorUsername: null,
      initiatorAvatar: null,
    };
    const more = {
      type: 'connection-accepted',
      createdAt: Date.now(),
      keepUntil: Date.now() + tenMinutes,
    } as const;
    // The other user gets more entries about the erased user than one step can change. The erased user gets a feed again.
    const app = appOf(world);
    for (const [{ id: userId }, count] of [
      [gone, 1],
      [stays, 120],
    ] as const) {
      await changeFeed(app, { projectId, userId }, (before) => {
        let feed: Feed = before;
        const put = Array.from({ length: count }, () => {
          const appended = append(feed, { projectId, userId, id: randomUUID(), metadata, ...more });
          feed = appended.feed;
          return appended.entry;
        });
        return { change: { feed, put }, result: undefined };
      });
    }
    await eraseDue(app, { clock: () => Date.now() + tenMinutes / 2 });
    expect(await contentOf(world)).not.toContain(gone.id);
    expect(await world.count(stays.id)).toBe(120);
    expect(await store.erasure.due(Date.now() + anHour, 10)).toHaveLength(1);
    await eraseDue(app, { clock: () => Date.now() + anHour });
    expect(await store.erasure.due(Date.now() + 2 * anHour, 10)).toHaveLength(1);
    await eraseDue(app, { clock: () => Date.now() + anHour + 2 * tenMinutes });
    expect(await store.erasure.due(Date.now() + 2 * anHour, 10)).toEqual([]);
  }, 60_000);

  test('the expiry of notifications lets other work run after each feed, and can be stopped', async () => {
    await using world = await World.start(engine);
    const initiator = await world.user('Stays');
    const owners = [await world.receiver(initiator, 1), await world.receiver(initiator, 1)];
    const left = async () => {
      const counts = await Promise.all(owners.map(({ id }) => world.count(id)));
      return counts.reduce((sum, one) => sum + one, 0);
    };
    const app = { ...appOf(world), now: () => Date.now() + 1000 * 24 * anHour };
    let isStopped = false;
    setImmediate(() => {
      isStopped = true;
    });
    await expireOld(app, () => isStopped);
    expect(await left()).toBeGreaterThan(0);
    await expireOld(app);
    expect(await left()).toBe(0);
  });

  test('gets no new feed when notifications expire between two steps of the erasure', async () => {
    await using world = await World.start(engine);
    const { id: userId } = await world.receiver(await world.user('Stays'), 2);
    const owner = { projectId: world.projectId, userId };
    const isGone = async () => {
      await world.store.erasure.removeFeed(owner);
      return (await world.store.feed(owner)).read === undefined;
    };
    await waitFor(isGone, { what: 'the removal of the feed' });
    const range = { upTo: 10, skip: 0, limit: 10 };
    expect(await world.store.newest(owner, range)).toHaveLength(2);
    await expireOld({ ...appOf(world), now: () => Date.now() + 1000 * 24 * anHour });
    expect((await world.store.feed(owner)).read).toBeUndefined();
    expect(await world.store.newest(owner, range)).toEqual([]);
  });
});
