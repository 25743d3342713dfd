// Starts at most 0 platforms and 30 processes.
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { streamNames } from '@kith/bus';
import type { Connection } from '@kith/contracts';
import { provideEngines, startContainers } from '@kith/engines';
import {
  caller,
  ensureNatsUsers,
  type NatsUser,
  type NatsUserFiles,
  serviceNames,
  startDistributed,
} from '@kith/platform';
import {
  availableEngines,
  compileCache,
  createPeople,
  type Engines,
  EventSource,
  uniquePrefix,
  waitFor,
} from '@kith/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection, nkeyAuthenticator } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const operatorToken = 'the-operator';
const processes = ['gateway', ...serviceNames] as const;

// The whole platform on a NATS server with its users: a right that is missing fails here (docs/adr/0003).
describe.runIf(availableEngines().includes('containers'))('NATS users', () => {
  const prefix = uniquePrefix();
  let folder: string;
  let users: NatsUserFiles;
  let engines: Engines;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-users-'));
    users = await ensureNatsUsers(folder, prefix);
    engines = await startOwnEngines(join(users.configFolder, 'nats.conf'));
  }, 120_000);
  afterAll(async () => {
    await engines?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const seed = (user: NatsUser) => readFile(users.seedFile(user));
  const as = async (user: NatsUser): Promise<NatsConnection> =>
    connect({
      servers: new URL(engines.natsUrl).host,
      authenticator: nkeyAuthenticator(await seed(user)),
      inboxPrefix: `_INBOX_${user}`,
    });

  it('keeps each seed for its owner, and no secret in the server’s configuration', async () => {
    const config = await readFile(join(users.configFolder, 'nats.conf'), 'utf8');
    for (const user of processes) {
      expect((await stat(users.seedFile(user))).mode & 0o777).toBe(0o600);
      expect(config).not.toContain((await seed(user)).toString());
    }
    expect(await ensureNatsUsers(folder, prefix)).toBeTruthy();
    expect(await readFile(join(users.configFolder, 'nats.conf'), 'utf8')).toBe(config);
  });

  it('serves the whole way, events included', async () => {
    const seeds = Object.fromEntries(
      await Promise.all(processes.map(async (user) => [user, (await seed(user)).toString()] as const)),
    );
    await using platform = await startDistributed({
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: compileCache(),
        NODE_ENV: 'test',
        LOG_LEVEL: 'debug',
        PORT: '0',
        KITH_PREFIX: prefix,
        RATE_LIMIT_SCALE: '0',
        OPERATOR_TOKEN: operatorToken,
        KITH_SECRET: 'the secret of a platform with rights',
        MONGODB_URL: engines.mongodbUrl,
        REDIS_URL: engines.redisUrl,
        NATS_URL: engines.natsUrl,
      },
      envOf: (name) => ({ NATS_NKEY: seeds[name] }),
      logFolder: join(folder, 'logs'),
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
    // Heard as a notice: the gateway asks for revocations every 30 s only.
    await call('POST', `/v7/${id}/auth/sign-out`, { body: { refreshToken: alan.refreshToken } });
    const isRefused = () =>
      call('GET', `/v7/${id}/auth/sessions`, { token: alan.accessToken }).then(
        () => false,
        (error) => error.status === 401,
      );
    await waitFor(isRefused, { what: 'the end of the session' });
    // Erased by all of them, on the bus too.
    await call('DELETE', `/v7/${id}/users/${ada.id}`, { token: ada.accessToken });
    await waitFor(async () => !(await eventsOn(await as('operator'), prefix)).includes('Countess'), {
      timeoutMs: 30_000,
      what: 'the erasure',
    });
    for (const name of processes) {
      const log = await readFile(join(folder, 'logs', `${name}.log`), 'utf8');
      expect(log).not.toMatch(/permissions? violation/i);
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
});

/** All that the stream of events holds, as one text; ends the connection. */
async function eventsOn(connection: NatsConnection, prefix: string): Promise<string> {
  const { streams } = await jetstreamManager(connection, { checkAPI: false });
  const name = streamNames(prefix).events;
  const { state } = await streams.info(name);
  const texts: string[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    texts.push((await streams.getMessage(name, { seq }))?.string() ?? '');
  }
  await connection.close();
  return texts.join('\n');
}

/** Engines of this suite's own: those that suites share have no users. */
async function startOwnEngines(natsConfig: string): Promise<Engines> {
  const { MONGODB_URL: _mongodb, NATS_URL: _nats, REDIS_URL: _redis, ...env } = process.env;
  const provided = await provideEngines({ env });
  if (provided.kind !== 'docker') throw new Error('Engines of its own need Docker.');
  return startContainers({ images: provided.images, natsConfig });
}
