import { randomUUID } from 'node:crypto';
import {
  createFile,
  deleteFile,
  type EventOf,
  eventSubject,
  type fileCreated,
  getFile,
  userDeleted,
} from '@kith/contracts';
import { makeEvent, type RunningService, type ServiceRuntime } from '@kith/service';
import {
  callOperation,
  createRuntime,
  type EngineKind,
  type OperationAnswer,
  type OperationCall,
} from '@kith/testing';
import type { Owner } from '../../src/file.ts';
import { type StorageOptions, startStorage } from '../../src/service.ts';
import {
  type Answer,
  answerTo,
  type BytesCall,
  callerOf,
  secrets,
  signedRequest,
  Upload,
  upload,
} from './bytes-client.ts';
import { createPlace, type Place } from './place.ts';

export type WorldOptions = Partial<
  Pick<StorageOptions, 'blobs' | 'quotas' | 'sweepEveryMs' | 'looseMs' | 'incompleteMs' | 'answerMs'>
> & {
  /** How many instances of the service run in this process. The default is 1. */
  instances?: number;
  /** Where the service stores its data. By default, the world has its own place. */
  place?: Place;
};

/** An event that the service publishes. */
export type FileEvent = EventOf<typeof fileCreated>;

const mebibyte = 1024 * 1024;

/** The service on its own bus, and ways to call it as the gateway does. */
export class World implements AsyncDisposable {
  readonly runtime: ServiceRuntime;
  readonly place: Place;
  /** The service's events, in the order of arrival. */
  readonly events: FileEvent[] = [];
  readonly #undo: AsyncDisposableStack;
  #services: RunningService[] = [];

  private constructor(runtime: ServiceRuntime, place: Place, undo: AsyncDisposableStack) {
    this.runtime = runtime;
    this.place = place;
    this.#undo = undo;
  }

  static async start(engine: EngineKind, options: WorldOptions = {}): Promise<World> {
    await using undo = new AsyncDisposableStack();
    const place = options.place ?? undo.use(await createPlace(engine));
    const runtime = undo.use(await createRuntime(engine));
    const world = new World(runtime, place, undo.move());
    const { bus } = runtime;
    const all = { durable: `test-${randomUUID()}`, subjects: [`${bus.prefix}.event.*.file.>`] };
    await bus.consume(all, async ({ body }) => {
      world.events.push(JSON.parse(new TextDecoder().decode(body)));
    });
    await world.serve(options);
    return world;
  }

  /** Stops the service, and starts it again with other settings. */
  async serve({ instances = 1, quotas, ...options }: Omit<WorldOptions, 'place'> = {}): Promise<void> {
    await this.stop();
    for (let started = 0; started < instances; started++) {
      const service = await startStorage(this.runtime, {
        ...this.place.config,
        ...options,
        http: { host: '127.0.0.1', port: 0, secrets },
        quotas: { projectBytes: 1000 * mebibyte, userBytes: 100 * mebibyte, ...quotas },
      });
      this.#services.push(service);
    }
  }

  async stop(): Promise<void> {
    const ending = this.#services;
    this.#services = [];
    await Promise.all(ending.map((one) => one.stop()));
  }

  /** The HTTP address at which an instance of the service takes uploads and serves downloads. */
  url(instance = 0): string {
    const url = this.#services[instance]?.httpUrl;
    if (url === undefined) throw new Error('The service does not run.');
    return url;
  }

  upload(owner: Owner, bytes: Uint8Array, instance = 0): Promise<Answer | undefined> {
    return upload(this.url(instance), createFile, owner, bytes);
  }

  /** Begins an upload that is sent piece by piece. */
  begin(owner: Owner, instance = 0): Upload {
    return new Upload(this.url(instance), createFile, owner);
  }

  /** Uploads a file, and resolves with its id. */
  async file(owner: Owner, bytes: Uint8Array): Promise<string> {
    const answer = await this.upload(owner, bytes);
    if (answer?.status !== 201) throw new Error(`The upload was answered with ${answer?.body}.`);
    return answer.json.fileId;
  }

  get(fileId: string, call: BytesCall, instance = 0): Promise<Answer | undefined> {
    const outgoing = signedRequest(this.url(instance), getFile, { ...call, params: { fileId } });
    outgoing.end();
    return answerTo(outgoing);
  }

  delete({ projectId, userId }: Owner, fileId: string, more: OperationCall = {}): Promise<OperationAnswer> {
    const call = { projectId, caller: callerOf(userId), params: { fileId }, ...more };
    return callOperation(this.runtime.bus, deleteFile, call);
  }

  /** Publishes the end of a user's account, as identity does. */
  async endAccount({ projectId, userId }: Owner, occurredAt = new Date()): Promise<void> {
    const { bus } = this.runtime;
    const event = makeEvent(userDeleted, {
      projectId,
      actorId: userId,
      aggregate: { type: 'user', id: userId, seq: 2 },
      data: { id: userId },
      occurredAt,
    });
    const body = new TextEncoder().encode(JSON.stringify(event));
    await bus.publish({ subject: eventSubject(bus.prefix, event), id: event.id, body });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#undo.disposeAsync();
  }
}

/** A new user of a project. By default, the project is new, too. */
export function someone(projectId: string = randomUUID()): Owner {
  return { projectId, userId: randomUUID() };
}
