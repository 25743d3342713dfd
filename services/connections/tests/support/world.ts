import type { Bus } from '@kith/bus';
import {
  acceptConnection,
  createProject,
  type EventEnvelope,
  listConnections,
  type OperationSpec,
  type PublicUser,
  requestConnection,
  signUp,
  updateUser,
} from '@kith/contracts';
import { startIdentity } from '@kith/identity';
import type { RunningService, ServiceRuntime } from '@kith/service';
import type { StoreConfig } from '@kith/store';
import {
  callerOf,
  callOperation,
  createRuntime,
  createStore,
  type EngineKind,
  type OperationAnswer,
  testSecrets,
  waitFor,
} from '@kith/testing';
import { startConnections } from '../../src/index.ts';
import { type ConnectionStore, openStore } from '../../src/store/index.ts';
import { unknownUser } from '../../src/unknown-user.ts';

/**
 * The services connections and identity on one bus, and one project. `newPerson` and `newPeople` make users without a sign-up.
 * `newUser` signs a user up.
 */
export class World implements AsyncDisposable {
  readonly bus: Bus;
  readonly identity: RunningService;
  readonly connections: RunningService;
  /** The store of the connections service, opened a second time. */
  readonly store: ConnectionStore;
  /** Where the connections service keeps its data. */
  readonly place: StoreConfig;
  readonly projectId: string;
  readonly #ends: AsyncDisposableStack;

  private constructor(
    parts: Pick<World, 'bus' | 'identity' | 'connections' | 'store' | 'place'>,
    projectId: string,
    ends: AsyncDisposableStack,
  ) {
    this.bus = parts.bus;
    this.identity = parts.identity;
    this.connections = parts.connections;
    this.store = parts.store;
    this.place = parts.place;
    this.projectId = projectId;
    this.#ends = ends;
  }

  static async start(engine: EngineKind): Promise<World> {
    await using undo = new AsyncDisposableStack();
    const places = [undo.use(await createStore(engine)), undo.use(await createStore(engine))];
    const [identityPlace, place] = places.map(({ config }) => config) as [StoreConfig, StoreConfig];
    const runtime: ServiceRuntime = undo.use(await createRuntime(engine));
    const identity = undo.use(await startIdentity(runtime, { store: identityPlace, secrets: testSecrets }));
    const connections = undo.use(await startConnections(runtime, { store: place }));
    const store = undo.adopt(await openStore(place), (opened) => opened.close());
    const { bus } = runtime;
    return new World({ bus, identity, connections, store, place }, await newProject(bus), undo.move());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#ends.disposeAsync();
  }

  newProject(): Promise<string> {
    return newProject(this.bus);
  }

  async newUser(fields: Record<string, unknown> = {}, projectId = this.projectId): Promise<string> {
    return (await this.newProfile(fields, projectId)).id;
  }

  /** Makes a new user and returns the user as others see them. */
  async newProfile(fields: Record<string, unknown> = {}, projectId = this.projectId): Promise<PublicUser> {
    const body = { email: `${crypto.randomUUID()}@example.org`, password: 'correct horse', ...fields };
    const answer = await callOperation(this.bus, signUp, { projectId, body });
    if (answer.status !== 201) throw new Error(answer.text);
    const { email, isVerified, isActive, lastActive, updatedAt, ...user } = answer.body.user;
    return user;
  }

  async newUsers(count: number): Promise<string[]> {
    const users: string[] = [];
    for (let index = 0; index < count; index++) users.push(await this.newUser());
    return users;
  }

  /**
   * Makes a user whom only the connections service knows. Identity is not involved, so that tests can make many users quickly.
   */
  async newPerson(fields: Partial<PublicUser> = {}): Promise<PublicUser> {
    const { projectId } = this;
    const user = { ...unknownUser(projectId, crypto.randomUUID(), new Date()), ...fields };
    await this.store.profiles.keep({ seq: 1, user });
    return user;
  }

  async newPeople(count: number): Promise<string[]> {
    const people = await Promise.all(Array.from({ length: count }, () => this.newPerson()));
    return people.map(({ id }) => id);
  }

  /** Calls any operation as a user, or as nobody. */
  call(
    spec: OperationSpec,
    by: string | null,
    given: { params?: Record<string, string>; query?: string; body?: unknown; projectId?: string } = {},
  ): Promise<OperationAnswer> {
    return callOperation(this.bus, spec, {
      projectId: this.projectId,
      caller: by ? callerOf(by) : null,
      ...given,
    });
  }

  /** Waits until connections has published `count` events of a pair, and returns these events in order. */
  async eventsOf(one: string, other: string, count: number): Promise<EventEnvelope[]> {
    const id = [one, other].sort().join(':');
    const events: EventEnvelope[] = [];
    const subjects = [`${this.bus.prefix}.event.${this.projectId}.connection.>`];
    const durable = `test-${crypto.randomUUID()}`;
    const intake = await this.bus.consume({ durable, subjects }, async ({ body }) => {
      const event: EventEnvelope = JSON.parse(new TextDecoder().decode(body));
      if (event.aggregate.id === id) events.push(event);
    });
    await waitFor(() => events.length >= count);
    await intake.drain();
    return events.sort((before, after) => before.aggregate.seq - after.aggregate.seq);
  }

  request(
    from: string,
    to: string,
    body: unknown = {},
    projectId = this.projectId,
  ): Promise<OperationAnswer> {
    const params = { userId: to };
    return callOperation(this.bus, requestConnection, { projectId, caller: callerOf(from), params, body });
  }

  accept(by: string, connectionId: string, projectId = this.projectId): Promise<OperationAnswer> {
    const params = { connectionId };
    return callOperation(this.bus, acceptConnection, { projectId, caller: callerOf(by), params });
  }

  list(by: string, query = '', projectId = this.projectId): Promise<OperationAnswer> {
    return callOperation(this.bus, listConnections, { projectId, caller: callerOf(by), query });
  }

  rename(userId: string, name: string): Promise<OperationAnswer> {
    const { projectId } = this;
    const params = { userId };
    return callOperation(this.bus, updateUser, {
      projectId,
      caller: callerOf(userId),
      params,
      body: { name },
    });
  }

  /** Connects two users and returns the connection's id. */
  async connect(one: string, other: string): Promise<string> {
    const requested = await this.request(one, other);
    const accepted = await this.accept(other, requested.body.id);
    if (accepted.status !== 200) throw new Error(requested.text + accepted.text);
    return accepted.body.id;
  }
}

async function newProject(bus: Bus): Promise<string> {
  const answer = await callOperation(bus, createProject, { body: { name: 'Test' } });
  return answer.body.id;
}
