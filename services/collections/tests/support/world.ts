import { randomUUID } from 'node:crypto';
import type { Collection, EventEnvelope, OperationSpec } from '@kith/contracts';
import type { ServiceRuntime } from '@kith/service';
import type { StoreConfig } from '@kith/store';
import { callerOf, callOperation, createRuntime, createStore, type EngineKind } from '@kith/testing';
import { type CollectionsOptions, startCollections } from '../../src/index.ts';

export interface Answer {
  status: number;
  /** The text of the body, as received. */
  text: string;
  /** The body, parsed. */
  json: unknown;
  /** The query string of the next page, from the `Link` header. */
  next: string | undefined;
}

export type SeenEvent = EventEnvelope<string, Collection & Record<string, unknown>>;

export interface Call {
  projectId?: string;
  userId?: string;
  collectionId?: string;
  entityId?: string;
  query?: string;
  body?: unknown;
  /** How long to wait for the answer. */
  timeoutMs?: number;
}

/** The collections service with its own bus and its own store, and a way to call it as the gateway does. */
export interface World extends AsyncDisposable {
  runtime: ServiceRuntime;
  store: StoreConfig;
  projectId: string;
  call(spec: OperationSpec, request: Call): Promise<Answer>;
  /** Calls an operation, expects success, and returns the collection. */
  collection(spec: OperationSpec, request: Call): Promise<Collection>;
  /** Every event that the service publishes, in the order of arrival. */
  events(): Promise<SeenEvent[]>;
}

export async function startWorld(
  engine: EngineKind,
  { instances = 1, ...options }: { instances?: number } & Omit<CollectionsOptions, 'store'> = {},
): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const runtime = stack.use(await createRuntime(engine));
  const store = stack.use(await createStore(engine)).config;
  for (let started = 0; started < instances; started++) {
    stack.use(await startCollections(runtime, { ...options, store }));
  }
  const resources = stack.move();
  const projectId = randomUUID();

  const call: World['call'] = async (spec, request) => {
    const { userId, query = '', body, timeoutMs } = request;
    const answer = await callOperation(runtime.bus, spec, {
      projectId: request.projectId ?? projectId,
      caller: userId ? callerOf(userId) : null,
      params: paramsOf(request),
      query,
      body,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    return { status: answer.status, text: answer.text, json: answer.body, next: answer.next };
  };

  return {
    runtime,
    store,
    projectId,
    call,
    async collection(spec, request) {
      const answer = await call(spec, request);
      if (answer.status >= 300) throw new Error(`${spec.name}: ${answer.status} ${answer.text}`);
      return answer.json as Collection;
    },
    async events() {
      const seen: SeenEvent[] = [];
      await runtime.bus.consume(
        { durable: `test-${randomUUID()}`, subjects: [`${runtime.bus.prefix}.event.>`] },
        async ({ body }) => {
          seen.push(JSON.parse(new TextDecoder().decode(body)));
        },
      );
      return seen;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function paramsOf({ collectionId, entityId }: Call): Record<string, string> {
  return {
    ...(collectionId === undefined ? {} : { collectionId }),
    ...(entityId === undefined ? {} : { entityId }),
  };
}
