import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createLogger } from '@kith/base';
import { NatsBus } from '@kith/bus/nats';
import {
  type AppNotification,
  type Collection,
  type ErrorCode,
  type EventEnvelope,
  statusOf,
} from '@kith/contracts';
import { provideEngines, startContainers } from '@kith/engines';
import { CallError, caller, type ProcessName, startDistributed } from '@kith/platform';
import { createPeople, type TestUser, uniquePrefix, waitFor } from '@kith/testing';
import { expect } from 'vitest';

const victims: ProcessName[] = ['identity', 'connections', 'collections', 'notifications'];

/**
 * Makes 12 users change names, collections and connections. Meanwhile, kills services and the broker. Ends as soon as at least
 * `changes` changes are made, and each service and the broker was killed at least once. Expects that each change publishes
 * exactly one event, that events are published in order, and that each event is applied once.
 */
export async function expectEventsThroughChaos({ changes }: { changes: number }): Promise<void> {
  await using ends = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'kith-chaos-'));
  ends.defer(() => rm(folder, { recursive: true, force: true }));
  const prefix = uniquePrefix();
  const { MONGODB_URL: _mongodb, NATS_URL: _nats, REDIS_URL: _redis, ...env } = process.env;
  const provided = await provideEngines({ env });
  if (provided.kind !== 'docker') throw new Error('This test starts its own engines, so it needs Docker.');
  const engines = ends.use(await startContainers({ images: provided.images }));
  const platform = ends.use(
    await startDistributed({
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        NODE_ENV: 'test',
        LOG_LEVEL: 'warn',
        PORT: '0',
        KITH_PREFIX: prefix,
        RATE_LIMIT_SCALE: '0',
        OPERATOR_TOKEN: 'operator',
        KITH_SECRET: 'the secret of a platform under chaos',
        MONGODB_URL: engines.mongodbUrl,
        REDIS_URL: engines.redisUrl,
        NATS_URL: engines.natsUrl,
      },
      logFolder: join(folder, 'logs'),
    }),
  );
  const people = createPeople(caller(platform.url), 'operator');
  const { id: projectId } = await people.createProject();
  const users: TestUser[] = [];
  for (let index = 0; index < 12; index++)
    users.push(await people.createUser(projectId, { name: `User ${index}` }));
  const folders = new Map<string, Collection>();
  for (const user of users) folders.set(user.id, await people.createCollection(user, 'Folder'));

  // The test's own consumer records the events that consumers get. For each aggregate it stores the events by `seq`, in the order of
  // the stream.
  const log = createLogger({ name: 'chaos', level: 'silent' });
  const bus = await NatsBus.connect({ url: engines.natsUrl, name: 'chaos', prefix, log });
  ends.defer(() => bus.close());
  const seen = new Map<string, Map<number, EventEnvelope>>();
  const contradictions: string[] = [];
  await bus.consume({ durable: 'chaos-watch', subjects: [`${prefix}.event.>`] }, async ({ body }) => {
    const event = JSON.parse(new TextDecoder().decode(body)) as EventEnvelope;
    const { type, id, seq } = event.aggregate;
    const key = `${type} ${id}`;
    const events = seen.get(key) ?? new Map<number, EventEnvelope>();
    // The same event can be delivered again. But a different event with the same `seq` is a contradiction.
    const known = events.get(seq)?.id ?? event.id;
    if (known !== event.id) contradictions.push(`${key} ${seq}: ${known} and ${event.id}`);
    seen.set(key, events.set(seq, event));
  });

  let left = changes;
  /** Acknowledged names, by the id of the user or collection. */
  const renamed = { users: new Map<string, string>(), collections: new Map<string, string>() };
  const connected = new Set<string>();
  const dead = new Set<string>();
  // At least one change of each kind must succeed, and each victim must die. Otherwise, the checks below could pass although
  // nothing was checked.
  const isOver = () =>
    left <= 0 &&
    [...victims, 'nats'].every((name) => dead.has(name)) &&
    [renamed.users, renamed.collections, connected].every(({ size }) => size > 0);
  /** Whether a change was acknowledged. If a killed service gives no answer, it is unknown whether the change was made. */
  const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof CallError && (isOutage(error) || isRepeated(error)))) throw error;
      // Waits a moment after a refusal. Without this pause, the clients' requests would slow down the start of the services.
      await setTimeout(20);
      return false;
    }
  };
  const call = caller(platform.url);
  const worker = async (index: number) => {
    const user = users[index] as TestUser;
    const token = user.accessToken;
    const scope = `/v7/${projectId}`;
    const collection = folders.get(user.id) as Collection;
    for (let turn = 0; !isOver(); turn++) {
      left--;
      const name = `Name ${index}.${turn}`;
      if (turn % 5 === 4) {
        const other = users[(index + 1 + Math.floor(turn / 5)) % users.length] as TestUser;
        if (other === user) continue;
        const pair = [user.id, other.id].toSorted().join(':');
        if (await attempt(() => people.connect(user, other))) connected.add(pair);
      } else {
        const [kind, id] =
          turn % 2 === 0 ? (['users', user.id] as const) : (['collections', collection.id] as const);
        if (await attempt(() => call('PATCH', `${scope}/${kind}/${id}`, { token, body: { name } }))) {
          renamed[kind].set(id, name);
        }
      }
    }
  };
  const killer = async () => {
    for (let round = 0; !isOver(); round++) {
      const victim = victims[round % victims.length] as ProcessName;
      await platform.process(victim)?.kill();
      expect(platform.process(victim), victim).toBeUndefined();
      await platform.start(victim);
      dead.add(victim);
      if (round % 3 === 2) {
        await engines.nats.kill();
        await waitFor(() => !bus.isConnected(), { what: 'the end of the broker' });
        await engines.nats.start();
        dead.add('nats');
      }
    }
  };
  await Promise.all([killer(), ...users.map((_, index) => worker(index))]);

  // Waits until everything is published: no aggregate's events have a gap, and each user's last event has the user's current
  // name.
  await waitFor(
    async () => {
      for (const [key, events] of seen) {
        const highest = Math.max(...events.keys());
        if (events.size !== highest) throw new Error(`${key} has ${events.size} of ${highest} events`);
      }
      for (const user of users) {
        const scope = `/v7/${projectId}`;
        const own = await call<{ name: string }>('GET', `${scope}/users/${user.id}`, {
          token: user.accessToken,
        });
        const events = seen.get(`user ${user.id}`) ?? new Map<number, EventEnvelope>();
        const last = events.get(Math.max(...events.keys()))?.data as { name: string } | undefined;
        if (last?.name !== own.name) throw new Error('a profile change is not published yet');
      }
      return true;
    },
    { timeoutMs: 90_000, what: 'quiet' },
  );

  // Waits until the events of all acknowledged changes have arrived, because the last events can still be on their way.
  const connectionEvents = () =>
    [...seen].flatMap(([key, events]) => (key.startsWith('connection ') ? [...events.values()] : []));
  const accepted = () => connectionEvents().filter(({ type }) => type === 'connection.accepted');
  await waitFor(
    () => {
      for (const [type, names] of [
        ['user', renamed.users],
        ['collection', renamed.collections],
      ] as const) {
        for (const [id, name] of names) {
          const events = [...(seen.get(`${type} ${id}`)?.values() ?? [])];
          expect(events.map(({ data }) => (data as { name: string }).name)).toContain(name);
        }
      }
      const pairs = accepted().map(({ aggregate }) => aggregate.id);
      for (const pair of connected) expect(pairs).toContain(pair);
      return true;
    },
    { timeoutMs: 60_000, what: 'the events of all acknowledged changes' },
  );

  // Each user's connections and notifications match the events. Each event has taken effect exactly once.
  for (const user of users) {
    const scope = `/v7/${projectId}`;
    const token = user.accessToken;
    await waitFor(
      async () => {
        const mine = accepted().filter(({ aggregate }) => aggregate.id.split(':').includes(user.id));
        const expected = connectionEvents()
          .filter(({ type, data }) => {
            const { requesterId, receiverId } = data as { requesterId: string; receiverId: string };
            return (
              (type === 'connection.requested' && receiverId === user.id) ||
              (type === 'connection.accepted' && requesterId === user.id)
            );
          })
          .map(({ type, data }) => `${type} ${(data as { connectionId: string }).connectionId}`)
          .toSorted();
        const list = await call<{ pagination: { totalCount: number } }>('GET', `${scope}/connections`, {
          token,
        });
        expect(list.pagination.totalCount).toBe(mine.length);
        const { data } = await call<{ data: AppNotification[] }>(
          'GET',
          `${scope}/app-notifications?limit=50`,
          { token },
        );
        const told = data.map(({ type, metadata }) => {
          const event = type === 'connection-request' ? 'connection.requested' : 'connection.accepted';
          return `${event} ${metadata.connectionId}`;
        });
        expect(told.toSorted()).toEqual(expected);
        return true;
      },
      { timeoutMs: 60_000, what: 'notifications to match' },
    );
  }
  expect(contradictions).toEqual([]);
  for (const durable of ['chaos-watch', 'connections-profiles', 'notifications-feed']) {
    expect(await bus.deadLetters(durable)).toEqual([]);
  }
}

/**
 * Whether an error means that a service or the broker is unavailable. During an outage, each error must have the error envelope
 * and the status of its code.
 */
function isOutage({ status, code }: CallError): boolean {
  return status >= 500 && statusOf(code as ErrorCode) === status;
}

/** Whether a refusal means that the change had already been made: by the other user, or by an attempt that got no answer. */
function isRepeated({ status }: CallError): boolean {
  return status === 409;
}
