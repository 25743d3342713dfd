import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AppNotification, Collection, EventEnvelope } from '@kith/contracts';
import { CallError, caller, type ProcessName, startDistributed } from '@kith/platform';
import { provideEngines, startContainers } from '@kith/platform/engines';
import { createLogger, NatsBus } from '@kith/service';
import {
  availableEngines,
  createPeople,
  type TestUser,
  testEffort,
  uniquePrefix,
  waitFor,
} from '@kith/testing';
import { describe, expect, it } from 'vitest';

/** Changes made while things die. */
const changes = 1_000 * testEffort();
const victims: ProcessName[] = ['identity', 'connections', 'collections', 'notifications'];

describe.runIf(availableEngines().includes('containers'))('events while services and the broker die', () => {
  it(
    'are out exactly for what is stored, in order for each aggregate, and applied once',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'kith-chaos-'));
      const prefix = uniquePrefix();
      const { MONGODB_URL: _mongodb, NATS_URL: _nats, REDIS_URL: _redis, ...env } = process.env;
      const provided = await provideEngines({ env });
      if (provided.kind !== 'docker') throw new Error('Engines of its own need Docker.');
      await using engines = await startContainers({ images: provided.images });
      await using platform = await startDistributed({
        env: {
          PATH: process.env.PATH,
          NODE_ENV: 'test',
          LOG_LEVEL: 'warn',
          PORT: '0',
          KITH_PREFIX: prefix,
          RATE_LIMIT_SCALE: '0',
          OPERATOR_TOKEN: 'operator',
          MONGODB_URL: engines.mongodbUrl,
          REDIS_URL: engines.redisUrl,
          NATS_URL: engines.natsUrl,
        },
        logFolder: join(folder, 'logs'),
      });
      const people = createPeople(caller(platform.url), 'operator');
      const { id: projectId } = await people.createProject();
      const users: TestUser[] = [];
      for (let index = 0; index < 12; index++)
        users.push(await people.createUser(projectId, { name: `User ${index}` }));
      const folders = new Map<string, Collection>();
      for (const user of users) folders.set(user.id, await people.createCollection(user, 'Folder'));

      // What consumers get, seen by one of our own: per aggregate, the seqs and ids in the order of the stream.
      const log = createLogger({ name: 'chaos', level: 'silent' });
      const bus = await NatsBus.connect({ url: engines.natsUrl, name: 'chaos', prefix, log });
      const seen = new Map<string, Map<number, EventEnvelope>>();
      const watching = await bus.consume(
        { durable: 'chaos-watch', subjects: [`${prefix}.event.>`] },
        async ({ body }) => {
          const event = JSON.parse(new TextDecoder().decode(body)) as EventEnvelope;
          const { type, id, seq } = event.aggregate;
          const key = `${type} ${id}`;
          const events = seen.get(key) ?? new Map<number, EventEnvelope>();
          // Delivered again is the same event; another one of the same seq would be a second truth.
          expect(events.get(seq)?.id ?? event.id).toBe(event.id);
          seen.set(key, events.set(seq, event));
        },
      );

      let left = changes;
      let isOver = false;
      const renamed = new Map<string, string>();
      const connected = new Set<string>();
      const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
        try {
          await work();
          return true;
        } catch (error) {
          // 5xx: not acknowledged, so it may be done or not. 4xx of a race between workers is an answer as well.
          if (error instanceof CallError || error instanceof Error) return false;
          throw error;
        }
      };
      const call = caller(platform.url);
      const worker = async (index: number) => {
        const user = users[index] as TestUser;
        const token = user.accessToken;
        const scope = `/v7/${projectId}`;
        const collection = folders.get(user.id) as Collection;
        for (let turn = 0; left > 0; turn++) {
          left--;
          const name = `Name ${index}.${turn}`;
          if (turn % 5 === 4) {
            const other = users[(index + 1 + Math.floor(turn / 5)) % users.length] as TestUser;
            if (other === user) continue;
            const pair = [user.id, other.id].toSorted().join(':');
            if (await attempt(() => people.connect(user, other))) connected.add(pair);
          } else if (turn % 2 === 0) {
            await attempt(() => call('PATCH', `${scope}/users/${user.id}`, { token, body: { name } }));
          } else if (
            await attempt(() =>
              call('PATCH', `${scope}/collections/${collection.id}`, { token, body: { name } }),
            )
          ) {
            renamed.set(collection.id, name);
          }
        }
      };
      const killer = async () => {
        for (let round = 0; !isOver; round++) {
          const victim = victims[round % victims.length] as ProcessName;
          await platform.process(victim)?.kill();
          await platform.start(victim);
          if (round % 3 === 2) {
            await engines.nats.kill();
            await engines.nats.start();
          }
        }
      };
      const killing = killer();
      await Promise.all(users.map((_, index) => worker(index)));
      isOver = true;
      await killing;

      // Quiet: every aggregate's events without a gap, and the copies like what they copy.
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
            if (last?.name !== own.name) throw new Error('a profile change is not out');
          }
          return true;
        },
        { timeoutMs: 90_000, what: 'quiet' },
      );

      // What was acknowledged is out; the last of it may still be on its way here.
      const connectionEvents = () =>
        [...seen].flatMap(([key, events]) => (key.startsWith('connection ') ? [...events.values()] : []));
      const accepted = () => connectionEvents().filter(({ type }) => type === 'connection.accepted');
      await waitFor(
        () => {
          for (const [id, name] of renamed) {
            const events = [...(seen.get(`collection ${id}`)?.values() ?? [])];
            expect(events.map(({ data }) => (data as Collection).name)).toContain(name);
          }
          const pairs = accepted().map(({ aggregate }) => aggregate.id);
          for (const pair of connected) expect(pairs).toContain(pair);
          return true;
        },
        { timeoutMs: 60_000, what: 'what was acknowledged' },
      );

      // Each user's connections and notifications are those of the events, once each.
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
      for (const durable of ['chaos-watch', 'connections-profiles', 'notifications-feed']) {
        expect(await bus.deadLetters(durable)).toEqual([]);
      }
      await watching.drain();
      await bus.close();
      await rm(folder, { recursive: true, force: true });
    },
    600_000 * testEffort(),
  );
});
