import { randomUUID } from 'node:crypto';
import {
  type AppNotification,
  countNotifications,
  type EventEnvelope,
  eventSubject,
  listNotifications,
  type OperationSpec,
  type PublicUser,
} from '@kith/contracts';
import type { ServiceRuntime } from '@kith/service';
import { eventKey, type StoreConfig } from '@kith/store';
import { createRuntime, createStore, type EngineKind, waitFor } from '@kith/testing';
import { type NotificationsOptions, startNotifications } from '../../src/index.ts';
import { type NotificationStore, openStore } from '../../src/store/index.ts';
import { type Answer, type Call, call } from './call.ts';
import { lifeOf, newUser, userCreatedOf } from './events.ts';

export interface Page {
  data: AppNotification[];
  pagination: Record<string, unknown>;
}

type Options = Omit<NotificationsOptions, 'store'> & { instances?: number };

/** The service on its own bus and store. Tests publish the events that other services would publish. */
export class World implements AsyncDisposable {
  readonly runtime: ServiceRuntime;
  readonly place: StoreConfig;
  /** The service's own store, opened a second time. */
  readonly store: NotificationStore;
  readonly projectId = randomUUID();
  readonly #ends: AsyncDisposableStack;

  private constructor(
    parts: { runtime: ServiceRuntime; place: StoreConfig; store: NotificationStore },
    ends: AsyncDisposableStack,
  ) {
    this.runtime = parts.runtime;
    this.place = parts.place;
    this.store = parts.store;
    this.#ends = ends;
  }

  static async start(engine: EngineKind, { instances = 1, ...options }: Options = {}): Promise<World> {
    await using undo = new AsyncDisposableStack();
    const runtime = undo.use(await createRuntime(engine));
    const place = undo.use(await createStore(engine)).config;
    for (let started = 0; started < instances; started++) {
      undo.use(await startNotifications(runtime, { store: place, ...options }));
    }
    const store = undo.adopt(await openStore(place), (opened) => opened.close());
    return new World({ runtime, place, store }, undo.move());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#ends.disposeAsync();
  }

  /**
   * Delivers events, even if they were delivered before. A real broker may also deliver an event twice, because it recognises a
   * duplicate only for some time.
   */
  async publish(...events: EventEnvelope[]): Promise<void> {
    const { bus } = this.runtime;
    for (const event of events) {
      const body = new TextEncoder().encode(JSON.stringify(event));
      const id = `${eventKey(event)}-${randomUUID()}`;
      await bus.publish({ subject: eventSubject(bus.prefix, event), id, body });
    }
  }

  /** Makes a user, and waits until the service has the user's profile. */
  async user(name: string): Promise<PublicUser> {
    const user = newUser(this.projectId, name);
    await this.publish(userCreatedOf(user));
    await waitFor(async () => (await this.store.profiles.find(this.projectId, [user.id])).size === 1);
    return user;
  }

  /**
   * Makes a new user who gets `count` notifications, all with the same initiator. Returns the id of the user and the ids of the
   * notifications, newest first.
   */
  async receiver(initiator: PublicUser, count: number): Promise<{ id: string; ids: string[] }> {
    const id = randomUUID();
    for (let made = 0; made < count; made++) {
      await this.publish(this.life(initiator, { id }).requested);
      await waitFor(async () => (await this.count(id)) === made + 1);
    }
    return { id, ids: (await this.list(id)).data.map((item) => item.id) };
  }

  /** The events of a request between two users. */
  life(from: PublicUser, to: { id: string }, at?: Date) {
    const of = { projectId: this.projectId, requesterId: from.id, receiverId: to.id };
    return lifeOf(at ? { ...of, at } : of);
  }

  /**
   * Waits until everything that was published so far has been handled. This is certain only with one instance. With several
   * instances, another instance may still be handling an earlier event.
   */
  async quiet(initiator: PublicUser): Promise<void> {
    const witness = { id: randomUUID() };
    await this.publish(this.life(initiator, witness).requested);
    await waitFor(async () => (await this.count(witness.id)) === 1, { what: 'the last event' });
  }

  call(spec: OperationSpec, userId: string, more: Partial<Call> = {}): Promise<Answer> {
    return call(this.runtime.bus, spec, { projectId: this.projectId, userId, ...more });
  }

  async count(userId: string): Promise<number> {
    return (await this.call(countNotifications, userId)).json as number;
  }

  async list(userId: string, query = 'limit=50'): Promise<Page> {
    return (await this.call(listNotifications, userId, { query })).json as Page;
  }
}
