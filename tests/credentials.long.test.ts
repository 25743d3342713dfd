// Quick counterpart: tests/manifests.test.ts
// Starts no platform and at most 30 processes.
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@kith/base';
import { streamNames } from '@kith/bus';
import { keepStreams, type NatsKeeper } from '@kith/bus/nats';
import type { Connection } from '@kith/contracts';
import { type Engines, provideEngines, startContainers } from '@kith/engines';
import {
  type Credentials,
  caller,
  consumersOf,
  engineOwner,
  ensureCredentials,
  ensureDatabaseUsers,
  type NatsUser,
  serviceNames,
  startDistributed,
  storingNames,
} from '@kith/platform';
import {
  availableEngines,
  compileCache,
  createPeople,
  EventSource,
  uniquePrefix,
  waitFor,
} from '@kith/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, headers, type NatsConnection, nkeyAuthenticator } from '@nats-io/transport-node';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kith } from './support/command.ts';

const operatorToken = 'the-operator';
const processes = ['gateway', ...serviceNames] as const;

// Runs the whole platform on engines with passwords, rights and encryption (docs/adr/0055). If a process of the platform does
// not have a right that it needs, a test here fails.
describe.runIf(availableEngines().includes('containers'))('the credentials', () => {
  const prefix = uniquePrefix();
  let folder: string;
  let credentials: Credentials;
  let engines: Engines;
  let at: Record<'nats' | 'mongo' | 'redis', string>;
  let keeper: NatsKeeper;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-credentials-'));
    // The system user of the engines must be able to enter this folder.
    await chmod(folder, 0o711);
    credentials = await ensure();
    engines = await startOwnEngines(credentials);
    const hostOf = (url: string) => new URL(url).host;
    at = {
      nats: hostOf(engines.natsUrl),
      mongo: hostOf(engines.mongodbUrl),
      redis: hostOf(engines.redisUrl),
    };
    const { ca, passwordOf } = credentials;
    // Makes the users of the database twice, as two starts of the platform would. The second time, the existing users must stay
    // as they are.
    for (let start = 0; start < 2; start++)
      await ensureDatabaseUsers({ url: credentials.rootUrl(at.mongo), ca, prefix, passwordOf });
    keeper = await keepStreams({
      ...{ name: 'keeper', prefix, ca, url: `tls://${at.nats}`, nkeySeed: credentials.seedOf('keeper') },
      ...{ log: createLogger({ name: 'keeper', level: 'silent' }), consumers: consumersOf(prefix) },
    });
  }, 120_000);
  afterAll(async () => {
    await keeper?.stop();
    await engines?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const ensure = () =>
    ensureCredentials(join(folder, 'files'), { prefix, monitorHost: '0.0.0.0', owner: engineOwner() });
  const as = async (user: NatsUser): Promise<NatsConnection> =>
    connect({
      servers: at.nats,
      tls: { ca: credentials.ca },
      authenticator: nkeyAuthenticator(Buffer.from(credentials.seedOf(user))),
      inboxPrefix: `_INBOX_${user}`,
    });

  it('credentials are readable only by their owners, and are not in the servers’ configuration', async () => {
    const files = join(folder, 'files');
    const isFile = async (name: string) => (await stat(join(files, name))).isFile();
    for (const name of await readdir(files, { recursive: true })) {
      const { mode } = await stat(join(files, name));
      expect(mode & 0o777, name).toBe((await isFile(name)) ? 0o600 : 0o700);
    }
    const told = await Promise.all(
      ['server/nats.conf', 'redis/users.acl', 'redis/redis.conf'].map((name) =>
        readFile(join(files, name), 'utf8'),
      ),
    );
    const secrets = [...processes.map((user) => credentials.seedOf(user)), credentials.passwordOf('gateway')];
    for (const secret of secrets) expect(told.join()).not.toContain(secret);
    // If the credentials are made a second time, they stay the same.
    const before = await Promise.all(
      [...storingNames, 'gateway'].map((name) => readFile(join(files, name, 'password'), 'utf8')),
    );
    const again = await ensure();
    expect([...storingNames, 'gateway'].map((name) => again.passwordOf(name))).toEqual(before);
    expect(again.ca).toBe(credentials.ca);
  });

  it('the whole platform, events included, works with the credentials of its services', async () => {
    const internal = new Map<string, string>();
    await using platform = await startDistributed({
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: compileCache(),
        NODE_ENV: 'test',
        LOG_LEVEL: 'debug',
        PORT: '0',
        KITH_PREFIX: prefix,
        // The limits are in use, so Redis has to count requests. But they are high enough for all requests of this test.
        RATE_LIMIT_SCALE: '1000',
        OPERATOR_TOKEN: operatorToken,
        KITH_SECRET: 'the secret of a platform with rights',
        NODE_EXTRA_CA_CERTS: credentials.caFile,
      },
      envOf: (name) => ({ ...credentials.urlsOf(name, at), NATS_NKEY: credentials.seedOf(name) }),
      logFolder: join(folder, 'logs'),
      onUp: (name, url) => internal.set(name, url),
    });
    const call = caller(platform.url);
    const people = createPeople(call, operatorToken);
    const { id } = await people.createProject();
    const ada = await people.createUser(id, { name: 'Ada' });
    const grace = await people.createUser(id, { name: 'Grace' });
    await people.connect(ada, grace);
    await people.createCollection(ada, 'Folder');
    await call('PATCH', `/v7/${id}/users/${ada.id}`, { token: ada.accessToken, body: { name: 'Countess' } });
    await waitFor(
      async () => {
        const list = await call<{ connections: Connection[] }>('GET', `/v7/${id}/connections`, {
          token: grace.accessToken,
        });
        return list.connections[0]?.connectedUser.name === 'Countess';
      },
      { what: 'the profile to arrive as an event' },
    );
    const scope = `/v7/${id}/app-notifications`;
    await waitFor(async () => (await call('GET', `${scope}/count`, { token: grace.accessToken })) === 1);
    using stream = await EventSource.open(`${platform.url}${scope}/stream`, {
      token: ada.accessToken,
      lastEventId: '0',
    });
    await waitFor(() => stream.events.length === 1, { what: 'the acceptance on the stream' });
    const exported = await call<{ user: { id: string } }>('GET', `/v7/${id}/users/${ada.id}/export`, {
      token: ada.accessToken,
    });
    expect(exported.user.id).toBe(ada.id);
    const alan = await people.createUser(id);
    await people.connect(alan, ada);
    await waitFor(() => stream.events.length === 2, { what: 'the request on the stream' });
    // A notice tells the gateway about the sign-out immediately. Without the notice, the gateway would learn of the sign-out
    // only when it next asks for revocations, which it does every 30 s.
    await call('POST', `/v7/${id}/auth/sign-out`, { body: { refreshToken: alan.refreshToken } });
    const isRefused = () =>
      call('GET', `/v7/${id}/auth/sessions`, { token: alan.accessToken }).then(
        () => false,
        (error) => error.status === 401,
      );
    await waitFor(isRefused, { what: 'the end of the session' });
    // Makes a dead letter whose event is no longer in the stream of events, as with old dead letters.
    const letter = headers();
    letter.set('Kith-Subject', `${prefix}.event.${id}.user.updated`);
    const old = { type: 'user.updated', projectId: id, aggregate: { type: 'user', id: ada.id, seq: 1 } };
    const connections = await as('connections');
    connections.publish(
      `${prefix}.dead.connections-profiles.${randomUUID()}`,
      JSON.stringify({ ...old, data: { name: 'Countess' } }),
      { headers: letter },
    );
    await connections.drain();
    // After this request, all services erase the user. The user's events disappear from the bus, too.
    await call('DELETE', `/v7/${id}/users/${ada.id}`, { token: ada.accessToken });
    await waitFor(async () => !(await eventsOn(await as('operator'), prefix)).includes('Countess'), {
      timeoutMs: 30_000,
      what: 'the erasure',
    });
    const metrics = await (await fetch(`${internal.get('gateway')}/metrics`)).text();
    expect(metrics).toContain('kith_limiter_store{store="redis"} 1');
    for (const name of processes) {
      const log = await readFile(join(folder, 'logs', `${name}.log`), 'utf8');
      expect(log).not.toMatch(/permissions? violation|NOPERM|NOAUTH/i);
    }
  }, 90_000);

  it.each([
    ['connections', `${prefix}.rpc.identity.sign-up`],
    ['identity', `${prefix}.rpc.connections.list`],
    ['crypto', `${prefix}.svc.identity.users-by-ids`],
    ['connections', `${prefix}.event.p.user.created`],
    ['gateway', `${prefix}.event.p.user.created`],
    ['gateway', `${prefix}.svc.identity.users-by-ids`],
    ['gateway', `${prefix}.notice.revocations`],
    ['gateway', `${prefix}.notice.project-settings`],
    ['connections', `${prefix}.notice.revocations`],
    ['connections', `${prefix}.svc.identity.revocations`],
    ['connections', `${prefix}.svc.identity.project-settings`],
    ['connections', `${prefix}.event.p.session.revoked`],
    ['gateway', `${prefix}.feed.p.u`],
    ['connections', `${prefix}.feed.p.u`],
    ['crypto', `${prefix}.svc.notifications.feed-after`],
    ['connections', `${prefix}.svc.collections.export-entities`],
    ['collections', `$JS.API.STREAM.DELETE.${prefix.toUpperCase()}_EVENTS`],
    ['crypto', `$JS.API.STREAM.MSG.DELETE.${prefix.toUpperCase()}_EVENTS`],
    ['gateway', `$JS.API.STREAM.MSG.DELETE.${prefix.toUpperCase()}_EVENTS`],
    ['gateway', `$JS.API.STREAM.PURGE.${prefix.toUpperCase()}_DEAD`],
    ['identity', `$JS.API.STREAM.PURGE.${prefix.toUpperCase()}_EVENTS`],
    ['identity', `$JS.API.CONSUMER.DELETE.${prefix.toUpperCase()}_EVENTS.connections-profiles`],
    // The server must refuse the following requests of `connections`. Each request contains a subject that the sender can
    // choose freely. The server would deliver messages to this subject.
    ['connections', `$JS.API.CONSUMER.CREATE.${prefix.toUpperCase()}_EVENTS.connections-profiles`],
    ['connections', `$JS.API.CONSUMER.CREATE.${prefix.toUpperCase()}_EVENTS.connections-profiles.x`],
    ['connections', `$JS.API.CONSUMER.DURABLE.CREATE.${prefix.toUpperCase()}_EVENTS.connections-profiles`],
    ['connections', `$JS.API.STREAM.UPDATE.${prefix.toUpperCase()}_EVENTS`],
    ['connections', `$JS.API.STREAM.CREATE.${prefix.toUpperCase()}_EVENTS`],
    ['connections', `$JS.API.DIRECT.GET.${prefix.toUpperCase()}_EVENTS`],
    ['connections', `$JS.API.CONSUMER.MSG.NEXT.${prefix.toUpperCase()}_EVENTS.collections-users`],
    ['keeper', `${prefix}.rpc.identity.sign-up`],
    ['keeper', `${prefix}.event.p.user.created`],
    ['keeper', `$JS.API.CONSUMER.MSG.NEXT.${prefix.toUpperCase()}_EVENTS.connections-profiles`],
    ['keeper', `$JS.API.STREAM.DELETE.${prefix.toUpperCase()}_EVENTS`],
  ] as const)('%s may not publish to %s', async (user, subject) => {
    const connection = await as(user);
    const refusals: unknown[] = [];
    void (async () => {
      for await (const status of connection.status())
        if (status.type === 'error') refusals.push(status.error);
    })();
    connection.publish(subject, '{}');
    await connection.flush();
    await waitFor(() => refusals.length > 0, { what: 'the refusal' });
    expect(String(refusals[0])).toMatch(/permissions violation for publish/i);
    await connection.close();
  });

  it.each([
    ['connections', '_INBOX_gateway.>'],
    ['crypto', `${prefix}.rpc.identity.sign-in`],
    ['crypto', `${prefix}.notice.>`],
    ['gateway', '>'],
    ['collections', `${prefix}.feed.>`],
  ] as const)('%s may not subscribe to %s', async (user, subject) => {
    const connection = await as(user);
    const refused = new Promise<Error>((resolve) => {
      connection.subscribe(subject, {
        callback: (error) => {
          if (error) resolve(error);
        },
      });
    });
    expect(String(await refused)).toMatch(/permissions violation for subscription/i);
    await connection.close();
  });

  it('the keeper creates a deleted consumer again', async () => {
    const connection = await as('connections');
    const { consumers } = await jetstreamManager(connection, { checkAPI: false });
    const [stream, durable] = [streamNames(prefix).events, 'connections-profiles'];
    const before = (await consumers.info(stream, durable)).created;
    expect(await consumers.delete(stream, durable)).toBe(true);
    await waitFor(
      async () => {
        const there = await consumers.info(stream, durable).catch(() => undefined);
        return there !== undefined && there.created !== before;
      },
      { what: 'the consumer to be there again' },
    );
    await connection.close();
  });

  it.each([
    ['KEYS', '*'],
    ['GET', `${prefix}:limit:x`],
    ['SET', `${prefix}:limit:x`, '1'],
    ['INCRBY', `${prefix}:other`, '1'],
    ['INCRBY', 'limit:x', '1'],
    ['EVAL', "return redis.call('GET', KEYS[1])", '1', `${prefix}:limit:x`],
    ['EVAL', "return redis.call('INCRBY', 'other', 1)", '0'],
    ['CONFIG', 'GET', '*'],
    ['ACL', 'LIST'],
    ['CLIENT', 'LIST'],
    ['FLUSHALL'],
    ['SCRIPT', 'FLUSH'],
    ['SUBSCRIBE', 'x'],
    ['SHUTDOWN'],
  ])('the gateway may not use Redis for %s %s', async (command, ...words) => {
    using redis = redisAs('gateway', credentials.passwordOf('gateway'));
    await expect(redis.client.call(command, ...words)).rejects.toThrow(/NOPERM|ACL failure/);
  });

  it('the operator’s credentials are enough for `kith doctor`, which distinguishes a refused user from a stopped server', async () => {
    const env = {
      ...{ NODE_ENV: 'production', KITH_PREFIX: prefix, KITH_SECRET: 'the secret of a platform with rights' },
      ...{ NODE_EXTRA_CA_CERTS: credentials.caFile, NATS_NKEY: credentials.seedOf('operator') },
      ...credentials.urlsOf('operator', at),
    };
    const examine = async (changes: NodeJS.ProcessEnv = {}) => {
      // Runs in a new process, because Node reads the list of trusted authorities only at its start.
      const { code, stdout } = await kith(['doctor', '--json'], { ...env, ...changes });
      const { findings } = JSON.parse(stdout) as {
        findings: { check: string; state: string; says: string; mend?: string }[];
      };
      return { code, findings: findings.filter(({ check }) => !['settings', 'clock'].includes(check)) };
    };
    // The databases and their indexes exist already. The test of the whole platform runs before this test and has started the
    // services.
    const { code, findings } = await examine();
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect(code).toBe(0);
    for (const engine of ['MongoDB', 'NATS', 'Redis', ...storingNames.map((name) => `database ${name}`)])
      expect(findings).toContainEqual(expect.objectContaining({ check: engine, state: 'ok' }));
    const refused = await examine({ REDIS_URL: `rediss://operator:wrong@${at.redis}` });
    expect([refused.code, refused.findings.filter(({ state }) => state !== 'ok')]).toEqual([
      1,
      [
        {
          ...{ check: 'Redis', state: 'wrong' },
          says: expect.stringMatching(/ refuses the user of REDIS_URL: WRONGPASS/),
          mend: expect.stringContaining('restart Redis'),
        },
      ],
    ]);
  }, 60_000);

  it.each([
    ['INCRBY', `${prefix}:limit:doctor`, '1'],
    ['GET', `${prefix}:limit:doctor`],
    ['PTTL', `${prefix}:limit:x`],
    ['EVAL', "return redis.call('PTTL', KEYS[1])", '1', `${prefix}:limit:x`],
    ['EVAL', "return redis.call('INCRBY', KEYS[1], 1)", '1', `${prefix}:limit:doctor`],
    ['KEYS', '*'],
    ['CONFIG', 'GET', '*'],
    ['ACL', 'LIST'],
    ['FLUSHALL'],
    ['SHUTDOWN'],
  ])('the operator may not use Redis for %s %s', async (command, ...words) => {
    const { REDIS_URL = '' } = credentials.urlsOf('operator', at);
    using redis = redisAs('operator', new URL(REDIS_URL).password);
    await expect(redis.client.call(command, ...words)).rejects.toThrow(/NOPERM|ACL failure/);
  });

  it('Redis accepts only the gateway and the operator, limits its memory, and refuses the passwords of databases', async () => {
    for (const [user, password] of [
      ['gateway', 'wrong'],
      ['operator', credentials.passwordOf('operator')],
      ['identity', credentials.passwordOf('identity')],
      ['default', ''],
    ] as const) {
      using redis = redisAs(user, password);
      await expect(redis.client.call('INCRBY', `${prefix}:limit:x`, '1')).rejects.toThrow(/NOAUTH|WRONGPASS/);
    }
    using gateway = redisAs('gateway', credentials.passwordOf('gateway'));
    expect(await gateway.client.info('memory')).toContain('maxmemory_policy:volatile-ttl');
    using health = redisAs('health', credentials.secured.redisHealth);
    await expect(health.client.call('INCRBY', `${prefix}:limit:x`, '1')).rejects.toThrow(/NOPERM/);
  });

  it('the database refuses anonymous clients, and its roles refuse access to another service’s data', async () => {
    const url = (user: string, password: string) =>
      `mongodb://${user}:${password}@${at.mongo}/?authSource=admin&tls=true`;
    const find = async (from: string, database: string) => {
      await using client = new MongoClient(from, { ca: credentials.ca, serverSelectionTimeoutMS: 3_000 });
      return await client.db(database).collection('schema').findOne({});
    };
    await expect(find(`mongodb://${at.mongo}/?tls=true`, `${prefix}_identity`)).rejects.toThrow(/auth/i);
    await expect(find(url('identity', 'wrong'), `${prefix}_identity`)).rejects.toThrow(/auth/i);
    for (const service of storingNames) {
      const own = url(service, credentials.passwordOf(service));
      await find(own, `${prefix}_${service}`);
      // FerretDB has no roles.
      if (await isFerretdb(own)) continue;
      for (const other of ['admin', ...storingNames.filter((one) => one !== service)]) {
        const database = other === 'admin' ? other : `${prefix}_${other}`;
        await expect(find(own, database)).rejects.toThrow(/not authorized/i);
      }
    }
  });

  it('no engine accepts unencrypted connections, and no client trusts a certificate of another authority', async () => {
    const mongo = new MongoClient(`mongodb://${at.mongo}`, { serverSelectionTimeoutMS: 1_000 });
    await expect(mongo.connect()).rejects.toThrow();
    await mongo.close();
    const redis = new Redis(`redis://${at.redis}`, { lazyConnect: true, retryStrategy: () => null });
    redis.on('error', () => {});
    await expect(redis.connect()).rejects.toThrow();
    const authenticator = nkeyAuthenticator(Buffer.from(credentials.seedOf('gateway')));
    await expect(connect({ servers: at.nats, authenticator, tls: {}, reconnect: false })).rejects.toThrow(
      /certificate|self.signed/i,
    );
  });

  function redisAs(username: string, password: string) {
    const client = new Redis(`rediss://${at.redis}`, {
      ...(password && { username, password }),
      ...{ tls: { ca: credentials.ca }, enableReadyCheck: false, retryStrategy: () => null },
    });
    client.on('error', () => {});
    return { client, [Symbol.dispose]: () => client.disconnect() };
  }

  async function isFerretdb(url: string): Promise<boolean> {
    await using client = new MongoClient(url, { ca: credentials.ca });
    return 'ferretdb' in (await client.db('admin').command({ buildInfo: 1 }));
  }
});

/** Returns all events and dead letters as one text. Ends the connection. */
async function eventsOn(connection: NatsConnection, prefix: string): Promise<string> {
  const { streams } = await jetstreamManager(connection, { checkAPI: false });
  const texts: string[] = [];
  for (const name of Object.values(streamNames(prefix))) {
    const { state } = await streams.info(name);
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      texts.push((await streams.getMessage(name, { seq }))?.string() ?? '');
    }
  }
  await connection.close();
  return texts.join('\n');
}

/** Starts engines for this suite alone, because the engines that suites share do not distinguish users. */
async function startOwnEngines({ secured }: Credentials): Promise<Engines> {
  const { MONGODB_URL: _mongodb, NATS_URL: _nats, REDIS_URL: _redis, ...env } = process.env;
  const provided = await provideEngines({ env });
  if (provided.kind !== 'docker') throw new Error('This suite starts its own engines, so it needs Docker.');
  return startContainers({ images: provided.images, secured });
}
