// Starts at most 2 platforms and 7 processes.
import type { Bus } from '@kith/bus';
import type { Collection, Connection, EventEnvelope, Session } from '@kith/contracts';
import { handlerEngines, startPlatform, type TestPlatform, type TestUser, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countsOf, everythingOf, expireEvents, openBusOf } from './support/everything.ts';

/** Words that occur only in the data of one user. */
const secrets = {
  username: 'zq.username',
  name: 'Zqname Before',
  later: 'Zqname After',
  bio: 'zqbio of hers',
  location: 'zqlocation',
  avatar: 'https://example.net/zqavatar.png',
  metadata: 'zqmetadata',
  message: 'zqmessage to a friend',
  withdrawn: 'zqmessage that was withdrawn',
  declined: 'zqmessage that was declined',
  folder: 'zqfolder',
  renamed: 'zqrenamed',
  deleted: 'zqdeleted',
  entity: 'zqentity',
};
const email = 'zqmail@example.net';
const inEvents = Object.values(secrets);
/** A type of notifications that the user has turned off. */
const turnedOff = 'zq-type';
/** The name of a second factor whose enrolment is pending. */
const factor = 'zq-factor';
const wordsOfHers = [email, turnedOff, factor, ...inEvents];
/** The request id of a request in which the user tries to sign up a second time. The user has chosen this id. */
const requestId = 'zq-request';

/** Makes a user who has left traces everywhere. `friend` and the first of `others` stay connected with the user. */
async function beBusy(
  platform: TestPlatform,
  of: { projectId: string; friend: TestUser; others: TestUser[] },
): Promise<TestUser> {
  const { friend, others } = of;
  const [asked, declining, asking] = others as [TestUser, TestUser, TestUser];
  const { username, name, bio, location, avatar } = secrets;
  const profile = { email, username, name, bio, location, avatar, metadata: { note: secrets.metadata } };
  const user = await platform.createUser(of.projectId, profile);
  const act = <T>(method: string, path: string, body: object = {}, by = user) =>
    platform.call<T>(method, `/v7/${of.projectId}${path}`, { token: by.accessToken, body });
  await platform.connect(user, friend, secrets.message);
  await platform.connect(asked, friend);
  await act('POST', `/users/${asked.id}/connection`, { message: secrets.withdrawn });
  await act('DELETE', `/users/${asked.id}/connection`);
  await act('POST', `/users/${declining.id}/connection`, { message: secrets.declined });
  await act('DELETE', `/users/${user.id}/connection`, {}, declining);
  await act('POST', `/users/${user.id}/connection`, {}, asking);
  await act('POST', `/users/${asking.id}/block`);
  await act('PATCH', `/users/${user.id}`, { name: secrets.later });
  await act('POST', '/auth/factors', { type: 'totp', name: factor });
  await act('PATCH', '/connections/settings', { requestsFrom: 'nobody' });
  await act('PATCH', '/app-notifications/settings', { types: { [turnedOff]: false } });
  const folder = await platform.createCollection(user, secrets.folder);
  const below = await act<Collection>('POST', `/collections/${folder.id}/sub-collections`, {
    collectionName: secrets.deleted,
  });
  await act('PATCH', `/collections/${folder.id}`, { name: secrets.renamed });
  await act('DELETE', `/collections/${below.id}`);
  await act('POST', `/collections/${folder.id}/entities`, { entityId: secrets.entity });
  return user;
}

/** Starts a consumer that fails on every event, so every event becomes a dead letter. */
async function poison(bus: Bus, durable: string) {
  await bus.consume({ durable, subjects: [`${bus.prefix}.event.>`], maxDeliveries: 1 }, async () => {
    throw new Error('poison');
  });
  const letters = async () =>
    (await bus.deadLetters(durable)).map(({ body }) => new TextDecoder().decode(body)).join('\n');
  return {
    letters,
    isAllDead: async () => {
      const text = await letters();
      return inEvents.every((word) => text.includes(word));
    },
    isWithdrawn: async () => {
      const text = await letters();
      return !inEvents.some((word) => text.includes(word));
    },
  };
}

describe.each(handlerEngines())('a busy user who leaves (%s)', (engine) => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startPlatform({ engine });
  });
  afterAll(() => platform?.[Symbol.asyncDispose]());

  it('the user is erased from all databases, events and dead letters', async () => {
    const { id } = await platform.createProject();
    const friend = await platform.createUser(id, { name: 'Friend who stays' });
    const others = await Promise.all(['A', 'B', 'C'].map((name) => platform.createUser(id, { name })));
    const gone = await beBusy(platform, { projectId: id, friend, others });
    // Sends requests with an idempotency key, so the platform stores the answers. One of the requests has no access token.
    const keyed = async (path: string, method: string, { token = '', body = {} }) => {
      const headers = { 'content-type': 'application/json', 'idempotency-key': 'zqkey' };
      const authorization = token ? { authorization: `Bearer ${token}` } : {};
      const response = await fetch(`${platform.url}/v7/${id}${path}`, {
        ...{ method, headers: { ...headers, ...authorization } },
        body: JSON.stringify(body),
      });
      expect(response.ok).toBe(true);
      return response.json();
    };
    await keyed(`/users/${gone.id}`, 'PATCH', { token: gone.accessToken, body: { bio: `${secrets.bio}.` } });
    const newcomer = { email, password: 'correct horse battery' };
    const second = (await keyed('/auth/sign-up', 'POST', {
      body: { ...newcomer, email: `2${email}` },
    })) as Session;
    const answer = `${gone.id}|identity.update-user|`;
    const refused = await fetch(`${platform.url}/v7/${id}/auth/sign-up`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': requestId },
      body: JSON.stringify(newcomer),
    });
    expect(refused.status).toBe(409);
    // The last word identifies the user as the actor or the target of a change, in the audit log and in the events of the audit
    // log.
    const words = [...wordsOfHers, answer, requestId, `user:${gone.id}`];

    await using bus = await openBusOf(platform);
    const { letters, isAllDead, isWithdrawn } = await poison(bus, 'test-poisoned');
    await expect.poll(isAllDead, { timeout: 60_000 }).toBe(true);
    const before = await everythingOf(platform);
    for (const word of words) expect(before, word).toContain(word);
    // The ids of the stored answers to sign-ups. Each user of this test has one such answer. The answers of two users will be
    // erased.
    const signUpsIn = (text: string) => new Set(text.match(/\|-\|identity\.sign-up\|[\w-]+/g));
    const signUps = signUpsIn(before).size;
    expect(signUps).toBeGreaterThan(2);

    await platform.call('DELETE', `/v7/${id}/users/${gone.id}`, { token: gone.accessToken });
    await platform.call('DELETE', `/v7/${id}/users/${second.user.id}`, { token: second.accessToken });
    // First waits only until no dead letter contains these words, because reading the dead letters takes less time than reading
    // everything.
    await expect.poll(isWithdrawn, { interval: 500, timeout: 90_000 }).toBe(true);
    let left = words;
    const isGone = async () => {
      const everything = await everythingOf(platform);
      left = words.filter((word) => everything.includes(word));
      if (signUpsIn(everything).size !== signUps - 2) left.push('an answer to a sign-up');
      return left.length === 0;
    };
    const patience = { timeoutMs: 90_000, everyMs: 500, what: 'the erasure' };
    await waitFor(isGone, patience).catch(() => expect(left).toEqual([]));

    // Logs may contain request ids, and ids that are part of addresses, but nothing else that a user has written.
    const aside = [await platform.logs(), await countsOf(platform)].join('\n');
    const logged = words.filter((word) => word !== requestId && aside.includes(word));
    expect(logged).toEqual([]);
    expect(await platform.logs()).toContain(gone.id);

    // The events about users who stay are unchanged and have no gaps.
    const events: EventEnvelope[] = [];
    await bus.consume({ durable: 'test-all', subjects: [`${bus.prefix}.event.>`] }, async ({ body }) => {
      events.push(JSON.parse(new TextDecoder().decode(body)));
    });
    const seqs = (type: string, of: string) => {
      const own = events.filter(({ aggregate }) => aggregate.type === type && aggregate.id === of);
      return [...new Set(own.map(({ aggregate }) => aggregate.seq))].sort((one, other) => one - other);
    };
    await waitFor(() => seqs('user', gone.id).length > 0 && seqs('feed', friend.id).length === 2);
    expect(seqs('user', gone.id)).toEqual([4]);
    expect(seqs('feed', gone.id)).toEqual([]);
    expect(seqs('user', friend.id)).toEqual([1]);
    expect(await letters()).toContain('Friend who stays');
    const { connections } = await platform.call<{ connections: Connection[] }>(
      'GET',
      `/v7/${id}/connections`,
      { token: friend.accessToken },
    );
    expect(connections.map(({ connectedUser }) => connectedUser.name)).toEqual(['A']);
  }, 240_000);

  // This test runs only on real engines. In the embedded form, one table contains all dead letters, even dead letters whose
  // events have expired. The suites of bus and runtime test the erasure in this table.
  it.runIf(engine === 'containers')(
    'the user is erased from dead letters whose events have expired',
    async () => {
      const { id } = await platform.createProject();
      const friend = await platform.createUser(id, { name: 'Late friend who stays' });
      const others = await Promise.all(['D', 'E', 'F'].map((name) => platform.createUser(id, { name })));
      const gone = await beBusy(platform, { projectId: id, friend, others });
      await using bus = await openBusOf(platform);
      const { letters, isAllDead, isWithdrawn } = await poison(bus, 'test-poisoned-late');
      await expect.poll(isAllDead, { timeout: 60_000 }).toBe(true);
      await expireEvents(platform);

      await platform.call('DELETE', `/v7/${id}/users/${gone.id}`, { token: gone.accessToken });
      await expect.poll(isWithdrawn, { interval: 500, timeout: 90_000 }).toBe(true);
      expect(await letters()).toContain('Late friend who stays');
    },
    240_000,
  );
});
