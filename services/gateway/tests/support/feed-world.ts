import { randomUUID } from 'node:crypto';
import { connectionRequested, type EventEnvelope, eventSubject, userCreated } from '@kith/contracts';
import { startNotifications } from '@kith/notifications';
import { append, type Entry, type Feed, openStore } from '@kith/notifications/testing';
import { makeEvent, type RunningService } from '@kith/service';
import type { StoreConfig } from '@kith/store';
import { createStore, type EngineKind, EventSource } from '@kith/testing';
import type { RunningGateway } from '../../src/index.ts';
import { projectId, serveIssuer, startTestGateway, type TestGateway, type TestIssuer } from '../harness.ts';

/**
 * A gateway in front of the real notifications service. The service gets events in the form in which the connections service
 * publishes them.
 */
export class FeedWorld implements AsyncDisposable {
  readonly test: TestGateway;
  readonly issuer: TestIssuer;
  readonly initiatorId: string;
  readonly service: RunningService;
  readonly #ends: AsyncDisposableStack;
  readonly #store: StoreConfig;

  private constructor(
    parts: {
      test: TestGateway;
      issuer: TestIssuer;
      initiatorId: string;
      store: StoreConfig;
      service: RunningService;
    },
    ends: AsyncDisposableStack,
  ) {
    this.test = parts.test;
    this.issuer = parts.issuer;
    this.initiatorId = parts.initiatorId;
    this.service = parts.service;
    this.#store = parts.store;
    this.#ends = ends;
  }

  static async start(
    engine: EngineKind,
    options: Parameters<typeof startTestGateway>[1] & {
      notifications?: Omit<Parameters<typeof startNotifications>[1], 'store'>;
    } = {},
  ): Promise<FeedWorld> {
    await using undo = new AsyncDisposableStack();
    const { config: store } = undo.use(await createStore(engine));
    const env = { RATE_LIMIT_SCALE: '0', ...options.env };
    const test = undo.use(await startTestGateway(engine, { ...options, env }));
    const issuer = await serveIssuer(test.bus);
    const service = undo.use(await startNotifications(test.runtime, { store, ...options.notifications }));
    const initiatorId = randomUUID();
    const world = new FeedWorld({ test, issuer, initiatorId, store, service }, undo.move());
    await world.#introduce();
    return world;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#ends.disposeAsync();
  }

  /** Starts the service again on the same store. */
  startService(): Promise<RunningService> {
    return startNotifications(this.test.runtime, { store: this.#store });
  }

  /** How many open streams of a user the feed lists. */
  async places(userId: string): Promise<number> {
    const store = await openStore(this.#store);
    const { streams } = await store.feed({ projectId, userId });
    await store.close();
    return streams.length;
  }

  token(userId: string, changes: Record<string, unknown> = {}): Promise<string> {
    return this.issuer.token({ sub: userId, ...changes });
  }

  async stream(
    userId: string,
    options: {
      lastEventId?: string | undefined;
      gateway?: RunningGateway;
      token?: string;
      method?: string;
      headers?: Record<string, string>;
    } = {},
  ): Promise<EventSource> {
    const { gateway = this.test.gateway, ...rest } = options;
    const url = `${gateway.url}/v7/${projectId}/app-notifications/stream`;
    return EventSource.open(url, { token: await this.token(userId), ...rest });
  }

  /** Writes notifications into a feed without the service, so that no notice wakes a stream. */
  async addSilently(userId: string, { count = 1, avatar }: { count?: number; avatar?: string } = {}) {
    const store = await openStore(this.#store);
    const before = await store.feed({ projectId, userId });
    const initiator = { initiatorName: null, initiatorUsername: null, initiatorAvatar: avatar ?? null };
    let feed: Feed = before;
    const put: Entry[] = [];
    while (put.length < count) {
      const added = append(feed, {
        projectId,
        userId,
        id: randomUUID(),
        type: 'connection-accepted',
        metadata: { connectionId: randomUUID(), initiatorId: this.initiatorId, ...initiator },
        createdAt: Date.now(),
        keepUntil: Date.now() + 3_600_000,
      });
      feed = added.feed;
      put.push(added.entry);
    }
    if (!(await store.change(before, { feed, put }))) throw new Error('lost a race');
    await store.close();
  }

  /** Publishes a connection request, which makes a notification for the user. */
  async tell(userId: string, occurredAt = new Date()): Promise<void> {
    const ids = { connectionId: randomUUID(), requesterId: this.initiatorId, receiverId: userId };
    await this.#publish(
      makeEvent(connectionRequested, {
        projectId,
        actorId: this.initiatorId,
        aggregate: { type: 'connection', id: ids.connectionId, seq: 1 },
        data: { ...ids, message: null },
        occurredAt,
      }),
    );
  }

  async #introduce(): Promise<void> {
    const nothing = { foreignId: null, bannerFileId: null, avatarFileId: null, bio: null, birthdate: null };
    const user = { ...nothing, location: null, role: 'visitor', metadata: {}, reputation: 0 };
    await this.#publish(
      makeEvent(userCreated, {
        projectId,
        actorId: this.initiatorId,
        aggregate: { type: 'user', id: this.initiatorId, seq: 1 },
        data: {
          ...user,
          id: this.initiatorId,
          projectId,
          name: 'Ann',
          username: 'ann',
          avatar: 'https://example.com/ann.png',
          createdAt: new Date().toISOString(),
        },
        occurredAt: new Date(),
      }),
    );
  }

  async #publish(event: EventEnvelope): Promise<void> {
    const { bus } = this.test;
    const body = new TextEncoder().encode(JSON.stringify(event));
    await bus.publish({ subject: eventSubject(bus.prefix, event), id: event.id, body });
  }
}
