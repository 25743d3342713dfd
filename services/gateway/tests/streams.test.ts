import { randomInt, randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { hashApiKey, makeApiKey } from '@kith/base';
import type { Message } from '@kith/bus';
import { NatsBus } from '@kith/bus/nats';
import {
  type ApiKey,
  actingUser,
  apiKeyNotice,
  errorBody,
  internalSubject,
  listConnections,
  noticeSubject,
} from '@kith/contracts';
import { errorReply, successReply } from '@kith/service';
import { type EventSource, handlerEngines, layLine, startEngines, waitFor } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import type { RunningGateway } from '../src/index.ts';
import { expectError, projectId, send, serveEcho } from './harness.ts';
import { behindAnother } from './support/behind-another.ts';
import { FeedWorld } from './support/feed-world.ts';

const dayMs = 24 * 3600 * 1000;
const idsOf = (source: EventSource) => source.events.map(({ event, id }) => `${event} ${id}`);

/** Opens a stream with a client that reads nothing. Returns both ends of its connection. */
async function deafClient(world: FeedWorld, userId: string) {
  const authorization = `Bearer ${await world.token(userId)}`;
  const client = connect(world.test.gateway.port, '127.0.0.1');
  await once(client, 'connect');
  client.pause();
  const { promise, resolve } = Promise.withResolvers<{ socket: Socket; response: ServerResponse }>();
  const onRequest = (message: unknown) => {
    const started = message as { socket: Socket; response: ServerResponse };
    if (started.socket.remotePort === client.localPort) resolve(started);
  };
  subscribe('http.server.request.start', onRequest);
  const path = `/v7/${projectId}/app-notifications/stream`;
  client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`);
  const { socket, response } = await promise;
  unsubscribe('http.server.request.start', onRequest);
  await waitFor(() => response.headersSent, { what: 'the stream' });
  return { client, socket, response };
}

describe.each(handlerEngines())('streams (%s)', (engine) => {
  it('sends new notifications with their sequence as id, and resumes after the last id', async () => {
    // With this interval, a stream does not ask for events by itself during the test: only a new event wakes it.
    await using world = await FeedWorld.start(engine, { streamTimes: { heartbeat: 3_600_000 } });
    const userId = randomUUID();
    await world.tell(userId);
    using first = await waitFor(async () => {
      const source = await world.stream(userId);
      await waitFor(() => source.lastId !== undefined);
      return source.lastId === '1' && source;
    });
    expect(first.status).toBe(200);
    expect(first.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    });
    expect(first.retryMs).toBeGreaterThan(0);
    await world.tell(userId);
    await waitFor(() => first.events.length === 1);
    expect(first.events).toEqual([
      {
        event: 'notification',
        id: '2',
        data: expect.objectContaining({ userId, projectId, type: 'connection-request', isRead: false }),
      },
    ]);
    await world.tell(userId);
    await waitFor(() => first.events.length === 2);
    using second = await world.stream(userId, { lastEventId: '0' });
    await waitFor(() => second.events.length === 3);
    expect(idsOf(second)).toEqual(['notification 1', 'notification 2', 'notification 3']);
    const items = await send(world.test.gateway.port, {
      path: `/v7/${projectId}/app-notifications`,
      headers: { authorization: `Bearer ${await world.token(userId)}` },
    });
    expect(JSON.parse(items.text).data).toEqual(second.events.map(({ data }) => data).reverse());
  });

  it('is counted among the user’s open streams only when the earlier answers on the connection have ended', async () => {
    await using world = await FeedWorld.start(engine);
    const userId = randomUUID();
    const path = `/v7/${projectId}/app-notifications/stream`;
    const { socket, release } = await behindAnother(world.test, { path, token: await world.token(userId) });
    expect(await world.places(userId)).toBe(0);
    release();
    await waitFor(async () => (await world.places(userId)) === 1, { what: 'the stream' });
    socket.destroy();
  });

  it('ends when the client ends its side of the connection, even while the stream waits for an earlier answer on it', async () => {
    await using world = await FeedWorld.start(engine);
    const userId = randomUUID();
    const { client, response } = await deafClient(world, userId);
    expect(await world.places(userId)).toBe(1);
    client.end();
    await waitFor(() => response.destroyed, { what: 'the end of the stream' });
    await waitFor(async () => (await world.places(userId)) === 0, { what: 'its place' });
    const path = `/v7/${projectId}/app-notifications/stream`;
    const { socket, release } = await behindAnother(world.test, { path, token: await world.token(userId) });
    const closed = once(socket.resume(), 'close');
    socket.end();
    release();
    await closed;
    expect(await world.places(userId)).toBe(0);
  });

  it('misses nothing and repeats nothing, even if connections break and gateways are replaced again and again', async () => {
    await using world = await FeedWorld.start(engine);
    const userId = randomUUID();
    const total = 120;
    const ahead = 9;
    const gateways: RunningGateway[] = [world.test.gateway, await world.test.another()];
    const anyGateway = () => gateways[randomInt(gateways.length)] as RunningGateway;
    const seen: string[] = [];
    let connections = 0;

    const listening = (async () => {
      while (seen.length < total) {
        const options = { gateway: anyGateway(), lastEventId: String(seen.length) };
        // A gateway that is about to stop may refuse the connection. Then the test tries another gateway, as any client would
        // do.
        const source = await world.stream(userId, options).catch((error: NodeJS.ErrnoException) => {
          expect(['ECONNREFUSED', 'ECONNRESET']).toContain(error.code);
        });
        if (!source) continue;
        if (source.status === 503) continue;
        expect(source.status).toBe(200);
        connections++;
        const enough = randomInt(0, 8);
        await waitFor(
          () =>
            source.isEnded || source.events.length >= enough || seen.length + source.events.length >= total,
        );
        source[Symbol.dispose]();
        seen.push(...source.events.map(({ id }) => String(id)));
      }
    })();
    for (let told = 1; told <= total; told++) {
      await world.tell(userId);
      // Waits until the reader is at most `ahead` events behind.
      await waitFor(() => seen.length >= told - ahead);
      if (told % 30 === 0) {
        const fresh = await world.test.another();
        const old = gateways.shift();
        gateways.push(fresh);
        await old?.stop();
      }
    }
    await listening;
    expect(seen).toEqual(Array.from({ length: total }, (_, index) => String(index + 1)));
    expect(connections).toBeGreaterThan(total / (ahead + 2));
  }, 60_000);

  it('finds a new notification by itself if no notice wakes it', async () => {
    await using world = await FeedWorld.start(engine, { streamTimes: { check: 20, heartbeat: 50 } });
    const userId = randomUUID();
    using source = await world.stream(userId);
    await waitFor(() => source.lastId === '0');
    await world.addSilently(userId);
    await waitFor(() => source.events.length === 1);
    expect(idsOf(source)).toEqual(['notification 1']);
  });

  it.each(['7', '999999999999999', 'x', '-1'])(
    'sends a reset to a client whose Last-Event-ID is %s',
    async (lastEventId) => {
      await using world = await FeedWorld.start(engine);
      const userId = randomUUID();
      using before = await world.stream(userId);
      await world.tell(userId);
      await waitFor(() => before.events.length === 1);
      using source = await world.stream(userId, { lastEventId });
      await waitFor(() => source.events.length === 1);
      expect(source.events).toEqual([{ event: 'reset', id: '1', data: { id: 1 } }]);
      await world.tell(userId);
      await waitFor(() => source.events.length === 2);
      expect(idsOf(source)[1]).toBe('notification 2');
    },
  );

  it('sends a reset to a client that was away for longer than notifications are kept', async () => {
    let later = 0;
    const now = () => Date.now() + later;
    await using world = await FeedWorld.start(engine, {
      notifications: { keepDays: 1, expireEveryMs: 50, now },
    });
    const userId = randomUUID();
    using before = await world.stream(userId);
    await world.tell(userId, new Date(Date.now() - dayMs / 2));
    // Events of different people have no fixed order. So the test waits until the older event is the first of the feed.
    await waitFor(() => before.events.length === 1);
    await world.tell(userId);
    await waitFor(() => before.events.length === 2);
    using whole = await world.stream(userId, { lastEventId: '0' });
    await waitFor(() => whole.events.length === 2);
    expect(idsOf(whole)).toEqual(['notification 1', 'notification 2']);
    later = (dayMs * 3) / 4;
    const again = await waitFor(async () => {
      const source = await world.stream(userId, { lastEventId: '0' });
      await waitFor(() => source.events.length > 0);
      source[Symbol.dispose]();
      return source.events[0]?.event === 'reset' && source;
    });
    expect(again.events).toEqual([{ event: 'reset', id: '2', data: { id: 2 } }]);
    using atOne = await world.stream(userId, { lastEventId: '1' });
    await waitFor(() => atOne.events.length === 1);
    expect(idsOf(atOne)).toEqual(['notification 2']);
  });

  it('sends heartbeats until the token expires, and then ends', async () => {
    let later = 0;
    const now = () => Date.now() + later;
    await using world = await FeedWorld.start(engine, { now, streamTimes: { check: 20, heartbeat: 40 } });
    const userId = randomUUID();
    const token = await world.token(userId);
    const source = await world.stream(userId, { token });
    await waitFor(() => source.comments >= 3);
    expect(source.isEnded).toBe(false);
    later = 3_600_000;
    await waitFor(() => source.isEnded);
    const refused = await world.stream(userId, { token });
    await waitFor(() => refused.isEnded);
    expectError(refused, 'auth/unauthorized');
  });

  // This test runs on one engine only, because it does not depend on the bus.
  it.runIf(engine === 'embedded')(
    'after its end, writes nothing more to a client that has not read the end',
    async () => {
      let later = 0;
      const now = () => Date.now() + later;
      await using world = await FeedWorld.start(engine, { now, streamTimes: { check: 20, heartbeat: 40 } });
      const userId = randomUUID();
      const { socket, response, client } = await deafClient(world, userId);
      const errors: unknown[] = [];
      response.on('error', (error) => errors.push(error));
      // Fills the buffers between gateway and client, so that the end of the stream cannot be sent. The pieces are small, so
      // that the stream itself never waits for its client. If the stream waited, it would be ended because its client does not
      // read.
      await waitFor(() => {
        if (socket.writableLength > 0) return true;
        while (socket.writableLength === 0) socket.write(Buffer.alloc(4 * 1024));
        return false;
      });
      const exp = Math.floor(now() / 1000) + 30 * 60;
      using witness = await world.stream(userId, { token: await world.token(userId, { exp }) });
      later = 20 * 60 * 1000;
      await waitFor(() => response.writableEnded, { what: 'the end of the stream' });
      const beats = witness.comments;
      await waitFor(() => witness.comments >= beats + 3, { what: 'heartbeats of another stream' });
      expect([response.closed, errors]).toEqual([false, []]);
      client.resume();
      await waitFor(() => response.closed, { what: 'the end of the connection' });
      expect(response.writableFinished).toBe(true);
    },
  );

  it('keeps the five newest streams of a user, over all gateways', async () => {
    await using world = await FeedWorld.start(engine);
    const other = await world.test.another();
    const userId = randomUUID();
    const sources: EventSource[] = [];
    for (let opened = 0; opened < 7; opened++) {
      const gateway = opened % 2 === 0 ? world.test.gateway : other;
      const source = await world.stream(userId, { gateway });
      await waitFor(() => source.lastId !== undefined);
      sources.push(source);
    }
    await waitFor(() => sources[0]?.isEnded && sources[1]?.isEnded);
    expect(sources.slice(0, 2).flatMap(({ events }) => events.map(({ event }) => event))).toEqual([
      'evicted',
      'evicted',
    ]);
    expect(sources[0]?.retryMs).toBe(60_000);
    // When a stream ends, there is room again, so the next stream evicts no other stream.
    sources[6]?.[Symbol.dispose]();
    const open = sources.slice(2, 6);
    const own = async () => {
      const source = await world.stream(userId);
      await waitFor(() => source.lastId !== undefined);
      return source;
    };
    await waitFor(async () => (await world.places(userId)) === 4);
    open.push(await own());
    await world.tell(userId);
    await waitFor(() => open.every(({ events }) => events.length === 1));
    expect(open.map(({ isEnded }) => isEnded)).toEqual([false, false, false, false, false]);
    // Another user's streams are not counted.
    using stranger = await world.stream(randomUUID());
    expect(stranger.status).toBe(200);
    for (const source of open) source[Symbol.dispose]();
  });

  // This test runs on one engine only, because it does not depend on the bus.
  it.runIf(engine === 'embedded')('ends if its client does not read', async () => {
    // These notifications have the largest size, with four bytes per character. Together, they are larger than the buffers
    // between gateway and client.
    const avatar = '🙂'.repeat(2_048);
    const count = 1_000;
    await using world = await FeedWorld.start(engine, { streamTimes: { check: 50, unread: 500 } });
    const userId = randomUUID();
    await world.addSilently(userId, { count, avatar });
    using witness = await world.stream(userId, { lastEventId: '0' });
    await waitFor(() => witness.events.length === count);
    using source = await world.stream(userId, { lastEventId: '0' });
    source.pause();
    await waitFor(async () => (await world.places(userId)) === 1, { what: 'the end of the stream' });
    expect(source.events.length).toBeLessThan(count);
    expect(witness.isEnded).toBe(false);
  });

  it('ends immediately when its gateway stops, and tells the client when to reconnect', async () => {
    // If the gateway waited for the streams, it would not stop within the hour.
    await using world = await FeedWorld.start(engine, { timeouts: { drain: 3_600_000 } });
    const userId = randomUUID();
    const sources = await Promise.all(Array.from({ length: 3 }, () => world.stream(userId)));
    await waitFor(() => sources.every(({ lastId }) => lastId !== undefined));
    await world.test.gateway.stop();
    await waitFor(() => sources.every(({ isEnded }) => isEnded));
    for (const { retryMs } of sources) {
      expect(retryMs).toBeGreaterThanOrEqual(500);
      expect(retryMs).toBeLessThanOrEqual(3_000);
    }
    expect(await world.places(userId)).toBe(0);
  });

  it('continues after the notifications service was away, and cannot begin while the service is away', async () => {
    await using world = await FeedWorld.start(engine);
    const userId = randomUUID();
    using source = await world.stream(userId);
    await world.tell(userId);
    await waitFor(() => source.events.length === 1);
    await world.service.stop();
    const refused = await world.stream(userId);
    await waitFor(() => refused.isEnded);
    expect([refused.status, JSON.parse(refused.text)]).toEqual([503, errorBody('gateway/unavailable')]);
    for (let told = 0; told < 3; told++) await world.tell(userId);
    await using _service = await world.startService();
    await waitFor(() => source.events.length === 4);
    expect(idsOf(source)).toEqual([1, 2, 3, 4].map((id) => `notification ${id}`));
    expect(source.isEnded).toBe(false);
  });

  it.runIf(engine === 'containers')('cannot begin while NATS is away', async () => {
    await using world = await FeedWorld.start(engine);
    await using engines = await startEngines();
    await using line = await layLine(new URL(engines.natsUrl));
    await using closing = new AsyncDisposableStack();
    const { bus: shared, log } = world.test.runtime;
    const at = { url: `nats://${line.address}`, name: 'gateway', prefix: shared.prefix };
    const bus = closing.adopt(await NatsBus.connect({ ...at, log }), (one) => one.close());
    const gateway = closing.use(await world.test.another({ bus }));
    const userId = randomUUID();
    using source = await world.stream(userId, { gateway });
    await waitFor(() => source.lastId !== undefined);
    line.cut();
    await waitFor(() => !bus.isConnected(), { what: 'the break' });
    const refused = await world.stream(userId, { gateway });
    await waitFor(() => refused.isEnded);
    expectError(refused, 'gateway/unavailable');
    expect(refused.headers['retry-after']).toBe('1');
  });

  /** A world with a server key that acts for a user. Identity answers questions about acting users with `reply`. */
  async function serverKeyWorld(
    options: Parameters<typeof FeedWorld.start>[1],
    reply: () => Message | undefined,
  ) {
    await using ends = new AsyncDisposableStack();
    const world = ends.use(await FeedWorld.start(engine, options));
    const { bus, gateway } = world.test;
    let asked = 0;
    await bus.serve(internalSubject(bus.prefix, actingUser), 'identity', async () => {
      asked++;
      return reply();
    });
    const token = makeApiKey('server');
    const hash = hashApiKey(token);
    const tell = (key: ApiKey | null) =>
      bus.broadcast(
        noticeSubject(bus.prefix, apiKeyNotice),
        new TextEncoder().encode(JSON.stringify({ hash, key })),
      );
    await waitFor(async () => !(await gateway.notReady()).includes('api-keys'), { what: 'keys' });
    await tell({ kind: 'server', id: randomUUID(), projectId });
    await serveEcho(bus, listConnections);
    const userId = randomUUID();
    const headers = { 'on-behalf-of': userId };
    const list = () =>
      send(gateway.port, {
        path: `/v7/${projectId}/connections`,
        headers: { ...headers, authorization: `Bearer ${token}` },
      });
    await waitFor(async () => (await list()).status === 200, { what: 'the key' });
    const source = ends.use(await world.stream(userId, { token, headers }));
    expect(source.status).toBe(200);
    const running = ends.move();
    return {
      source,
      list,
      asked: () => asked,
      removeKey: () => tell(null),
      [Symbol.asyncDispose]: () => running.disposeAsync(),
    };
  }

  it('a stream of a server key continues while identity is silent or fails, and ends when identity refuses the user', async () => {
    const replies = {
      allows: () => successReply(200, { user: { role: 'visitor' } }, {}),
      refuses: () => successReply(200, { user: null }, {}),
      fails: () => errorReply('user/server-error'),
      'says nothing': () => undefined,
    };
    let identity: keyof typeof replies = 'allows';
    const options = { env: { REQUEST_TIMEOUT_MS: '1000' }, streamTimes: { check: 50, user: 0 } };
    await using world = await serverKeyWorld(options, () => replies[identity]());
    const { source, list, asked } = world;
    const beginsTo = async (what: keyof typeof replies) => {
      identity = what;
      const before = asked();
      await waitFor(() => source.isEnded || asked() > before + 2, { what: 'further checks' });
    };
    await beginsTo('fails');
    // The list comes from another service. The contract of the list does not contain identity's error codes, so the gateway
    // answers with codes of its own.
    expectError(await list(), 'gateway/unavailable');
    await beginsTo('says nothing');
    expectError(await list(), 'gateway/timeout');
    await beginsTo('allows');
    expect(source.isEnded).toBe(false);
    identity = 'refuses';
    await waitFor(() => source.isEnded, { what: 'the end of the stream' });
  });

  it('a stream of a server key rarely asks identity for the user, and still ends as soon as the key is removed', async () => {
    const streamTimes = { check: 20, heartbeat: 100, user: 3_600_000 };
    const user = successReply(200, { user: { role: 'visitor' } }, {});
    await using world = await serverKeyWorld({ streamTimes }, () => user);
    const asked = world.asked();
    await waitFor(() => world.source.comments > 2, { what: 'several checks' });
    await world.removeKey();
    await waitFor(() => world.source.isEnded, { what: 'the end of the stream' });
    expect(world.asked()).toBe(asked);
  });

  it('is an operation like any other: token, project, method, HEAD', async () => {
    await using world = await FeedWorld.start(engine);
    const { port } = world.test.gateway;
    const path = `/v7/${projectId}/app-notifications/stream`;
    expectError(await send(port, { path }), 'auth/unauthorized');
    const authorization = `Bearer ${await world.token(randomUUID(), { projectId: randomUUID() })}`;
    expectError(await send(port, { path, headers: { authorization } }), 'auth/forbidden');
    expectError(await send(port, { method: 'POST', path }), 'route/method-not-allowed');
    const own = `Bearer ${await world.token(randomUUID())}`;
    const head = await send(port, { method: 'HEAD', path, headers: { authorization: own } });
    expect([head.status, head.headers['content-type'], head.text]).toEqual([200, 'text/event-stream', '']);
  });
});
