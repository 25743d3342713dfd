// Starts no platform and no process.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Call } from '@kith/platform';
import { createPeople, type TestUser, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKith } from './support/command.ts';
import { makeFolders, operatorToken, startOn } from './support/folder-platform.ts';

const services = ['identity', 'connections', 'collections', 'notifications'];

/** The data that people see of themselves and of each other. */
async function viewOf(call: Call, users: readonly TestUser[]) {
  return Promise.all(
    users.map(async ({ projectId, accessToken: token }) => {
      const get = <T>(path: string) => call<T>('GET', `/v7/${projectId}${path}`, { token });
      const names = (people: { connectedUser?: { name: string }; user?: { name: string } }[]) =>
        people.map(({ connectedUser, user }) => (connectedUser ?? user)?.name);
      const { connections, pagination } = await get<{
        connections: { connectedUser: { name: string } }[];
        pagination: { totalCount: number };
      }>('/connections');
      const { requests } = await get<{ requests: { user: { name: string } }[] }>(
        '/connections/pending/received',
      );
      const feed = await get<{ data: { id: string; type: string }[] }>('/app-notifications');
      const count = await get('/app-notifications/count');
      const suggested = await get<{ name: string }[]>('/users/suggestions?query=person');
      return {
        connections: names(connections),
        total: pagination.totalCount,
        received: names(requests),
        notifications: feed.data,
        count,
        suggested,
      };
    }),
  );
}

const act = (call: Call, by: TestUser, method: string, path: string, body: object | null = {}) =>
  call(method, `/v7/${by.projectId}${path}`, { token: by.accessToken, ...(body && { body }) });

async function rename(call: Call, user: TestUser, name: string): Promise<void> {
  await act(call, user, 'PATCH', `/users/${user.id}`, { name });
}

/** All subsets of some names. */
function subsets(names: readonly string[]): string[][] {
  return Array.from({ length: 2 ** names.length }, (_, bits) =>
    names.filter((_name, at) => bits & (1 << at)),
  );
}

describe('an installation whose machine died', () => {
  const undo = new AsyncDisposableStack();
  let folders: Awaited<ReturnType<typeof makeFolders>>;
  let users: TestUser[];
  /**
   * Three data folders. `early` is from before all changes, `connected` from after changes of connections, and `renamed` from
   * after further changes of users.
   */
  let early: string;
  let connected: string;
  let renamed: string;
  const views = new Map<string, unknown>();

  /**
   * Starts a platform on a copy of a folder, or on a new folder, and calls `act`. Waits until the events of all changes are
   * published and received, and stops the platform. Returns the copy or the new folder.
   */
  async function goOn(from: string | undefined, act: (call: Call) => Promise<void>): Promise<string> {
    const folder = from ? await folders.mix(from, from, []) : await folders.make();
    const platform = await startOn(folder);
    await act(platform.call);
    await settled(folder);
    if (users) views.set(folder, await viewOf(platform.call, users));
    await platform.stop();
    return folder;
  }

  /** Starts a platform on a folder and waits until people see the expected view. */
  async function seesOn(folder: string, expected: unknown): Promise<void> {
    const platform = await startOn(folder);
    try {
      let seen: unknown;
      const isWhole = async () => {
        await settled(folder);
        seen = await viewOf(platform.call, users);
        return JSON.stringify(seen) === JSON.stringify(expected);
      };
      await waitFor(isWhole).catch(() => undefined);
      expect(seen).toEqual(expected);
    } finally {
      await platform.stop();
    }
  }

  /** Waits until every event is published and every consumer is at the end of the log. */
  async function settled(folder: string): Promise<void> {
    const ask = (file: string, sql: string) => {
      using db = new DatabaseSync(join(folder, `${file}.sqlite`), { readOnly: true, timeout: 5_000 });
      return Number(Object.values(db.prepare(sql).get() ?? {})[0]);
    };
    const isSettled = () =>
      services.every((name) => ask(name, 'SELECT count(*) FROM events WHERE published = 0') === 0) &&
      ask('events', 'SELECT min(c.position) >= (SELECT max(position) FROM events) FROM consumers c') === 1 &&
      ask('events', 'SELECT count(*) FROM redeliveries') === 0;
    // Checks twice, because a consumer that applies an event can publish further events.
    await waitFor(
      () => isSettled() && new Promise<boolean>((resolve) => setImmediate(() => resolve(isSettled()))),
    );
  }

  beforeAll(async () => {
    folders = undo.use(await makeFolders());
    const made: TestUser[] = [];
    early = await goOn(undefined, async (call) => {
      const people = createPeople(call, operatorToken);
      const { id } = await people.createProject();
      for (let n = 0; n < 5; n++)
        made.push(await people.createUser(id, { name: `Person ${n}`, username: `person${n}` }));
      await people.connect(made[0]!, made[1]!);
    });
    users = made;
    early = await goOn(early, async () => undefined);
    const [ann, bob, carl, dora, eve] = users as [TestUser, TestUser, TestUser, TestUser, TestUser];
    connected = await goOn(early, async (call) => {
      await createPeople(call, operatorToken).connect(carl, dora);
      await act(call, bob, 'POST', `/users/${carl.id}/connection`);
      await act(call, dora, 'POST', `/users/${ann.id}/connection`);
      await act(call, dora, 'DELETE', `/users/${ann.id}/connection`);
      await act(call, ann, 'POST', `/users/${eve.id}/block`);
    });
    renamed = await goOn(connected, async (call) => {
      await rename(call, bob, 'Person who was renamed');
      await rename(call, carl, 'Person renamed, too');
    });
  });
  afterAll(() => undo.disposeAsync());

  // Before a service answers, it syncs the changes of its own data to disk. All other data can be derived from such data.
  it.each([
    ...subsets(['events', 'identity', 'notifications']).map((lost) => ({ what: 'connections', lost })),
    ...subsets(['events', 'connections', 'notifications']).map((lost) => ({ what: 'users', lost })),
  ])(
    'has every acknowledged change of $what exactly once, after the last changes of $lost were lost',
    async ({ what, lost }) => {
      const [before, after] = what === 'users' ? [connected, renamed] : [early, connected];
      const folder = await folders.mix(
        after,
        before,
        lost.map((name) => `${name}.sqlite`),
      );
      await seesOn(folder, views.get(after));
    },
  );

  it('does not mistake the erased data of an account for lost data', async () => {
    const folder = await folders.mix(early, early, []);
    const [eve] = users.slice(4) as [TestUser];
    const has = (file: string, sql: string) => {
      using db = new DatabaseSync(join(folder, `${file}.sqlite`), { readOnly: true, timeout: 5_000 });
      return db.prepare(sql).get() !== undefined;
    };
    const first = await startOn(folder);
    await act(first.call, eve, 'GET', '/collections/root', null);
    await act(first.call, eve, 'DELETE', `/users/${eve.id}`);
    await waitFor(() => has('events', "SELECT 1 FROM events WHERE subject LIKE '%.collection.%'"));
    const isForgotten = () => !has('collections', 'SELECT 1 FROM events');
    await waitFor(isForgotten, { timeoutMs: 30_000, what: 'the deletion of the event' });
    await settled(folder);
    await first.stop();
    await (await startOn(folder)).stop();
    const restored = services.filter((name) => has(name, "SELECT 1 FROM facts WHERE name = 'epoch'"));
    expect(restored).toEqual([]);
  }, 60_000);

  it('an old event that is published again is not mistaken for a sign of lost data', async () => {
    const folder = await folders.mix(early, early, []);
    {
      using log = new DatabaseSync(join(folder, 'events.sqlite'));
      log.exec(`INSERT INTO dead_letters (durable, id, subject, body, error, at)
        SELECT 'connections-profiles', id, subject, body, 'any', at FROM events WHERE subject LIKE '%.user.%' LIMIT 1`);
      // Deletes the published events and the marks of published events, as the platform does after a week.
      using identity = new DatabaseSync(join(folder, 'identity.sqlite'));
      identity.exec('DELETE FROM events; DELETE FROM marks');
      log.exec('DELETE FROM events');
    }
    const replayed = await runKith(['dead-letters', 'replay', 'connections-profiles'], { KITH_DATA: folder });
    expect(replayed.stdout).toBe('1 published again\n');
    await (await startOn(folder)).stop();
    using identity = new DatabaseSync(join(folder, 'identity.sqlite'), { readOnly: true });
    expect(identity.prepare("SELECT value FROM facts WHERE name = 'epoch'").all()).toEqual([]);
  }, 60_000);

  // The files look as they would after a power failure with `synchronous=NORMAL`. They would look the same if somebody had put
  // back an older copy of a file. The event log still has the events of the lost changes. So the platform notices the loss, and
  // shows the data that the owning service still has.
  it.each(subsets(['connections', 'notifications']).map((lost) => ({ lost })))(
    'shows users with the data that identity still has, after the last changes of identity and $lost were lost',
    async ({ lost }) => {
      const folder = await folders.mix(
        renamed,
        connected,
        ['identity', ...lost].map((name) => `${name}.sqlite`),
      );
      await seesOn(folder, views.get(connected));
      const again = await goOn(folder, (call) => rename(call, users[1]!, 'Person of a new name'));
      const names = JSON.stringify(views.get(again));
      expect(names).toContain('Person of a new name');
      expect(names).not.toContain('renamed');
    },
  );

  it.each(subsets(['identity', 'notifications']).map((lost) => ({ lost })))(
    'shows the lists and totals that connections still has, after the last changes of connections and $lost were lost',
    async ({ lost }) => {
      const folder = await folders.mix(
        connected,
        early,
        ['connections', ...lost].map((name) => `${name}.sqlite`),
      );
      const viewIn = (of: string) => views.get(of) as Awaited<ReturnType<typeof viewOf>>;
      const listed = (of: string) =>
        viewIn(of).map(({ connections, total, received }) => ({ connections, total, received }));
      const first = await goOn(folder, async () => undefined);
      expect(listed(first)).toEqual(listed(early));
      const [, , carl, dora] = users;
      const again = await goOn(first, async (call) => {
        await createPeople(call, operatorToken).connect(carl!, dora!);
      });
      expect(listed(again)[2]).toEqual({ connections: ['Person 3'], total: 1, received: [] });
      expect(viewIn(again)[3]!.notifications.length).toBe(viewIn(first)[3]!.notifications.length + 1);
    },
  );
});
