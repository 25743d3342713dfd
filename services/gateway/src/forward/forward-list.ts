import { ApiError, failedAfterChange } from '@kith/base';
import { type Bus, codeHeader, type Message, replayedHeader } from '@kith/bus';
import { type Collection, collectionWithEntities } from '@kith/contracts';
import { ask } from '@kith/service';
import { busFailure } from './bus-failure.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import { type Forwarded, forward } from './forward.ts';
import type { ListRow } from './list-operations.ts';

/** A collection as v6 clients know it (spec#existing-clients-list). */
type List = Collection & { entityIds: string[]; entities: [] };
/** Reads a list as it is now. Resolves with null if the list has been deleted. */
type ReadList = (collectionId: string) => Promise<List | null>;

/** Maximum number of collections whose entities are requested at the same time. */
const atOnce = 16;

/**
 * The maximum number of ids in an answer. When an answer has reached this number, the lists that follow show no ids
 * (spec#existing-clients-list-many).
 */
const mostIds = 20_000;

/**
 * Translates a v6 client's request into a request for the collections service, and the reply into the shapes of v6
 * (spec#existing-clients-lists). Throws like `forward`, and also `collection/invalid-body` or `collection/not-found`. If the
 * change was made, but the list cannot be read afterwards, throws `gateway/timeout`.
 */
export async function forwardList(
  bus: Bus,
  row: ListRow,
  request: Forwarded,
  patience: { timeoutMs: number; limit: ConcurrencyLimit },
): Promise<Message> {
  const reply = await forward(bus, inWordsOfCollections(row, request), patience);
  const text = new TextDecoder().decode(reply.body);
  if (reply.headers[codeHeader]) return withBody(reply, text.replaceAll('collectionName', 'listName'));
  if (row.answers === 'nothing') return reply;
  const read = readerFor(bus, request, Date.now() + patience.timeoutMs);
  try {
    const isReplay = reply.headers[replayedHeader] !== undefined;
    return withBody(reply, JSON.stringify(await inShapesOfLists(row, JSON.parse(text), { read, isReplay })));
  } catch (error) {
    throw row.operation.method === 'GET' ? error : failedAfterChange(error);
  }
}

/**
 * Translates a request into a request for the collections service. A body that is no JSON object stays unchanged, and the
 * service refuses it.
 */
function inWordsOfCollections({ bodyOf, paramInBody }: ListRow, request: Forwarded): Forwarded {
  const given = bodyOf && objectOf(request.body);
  if (!given) return request;
  const body = new TextEncoder().encode(JSON.stringify(bodyOf(given)));
  if (!paramInBody) return { ...request, body };
  const value = given[paramInBody];
  if (typeof value !== 'string' || value === '') {
    const message = `${paramInBody} is required.`;
    throw new ApiError('collection/invalid-body', { message, field: paramInBody });
  }
  const { address } = request;
  return { ...request, body, address: { ...address, params: { ...address.params, [paramInBody]: value } } };
}

function objectOf(body: Uint8Array): Record<string, unknown> | undefined {
  if (body.length === 0) return {};
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

async function inShapesOfLists(
  { answers }: ListRow,
  output: unknown,
  { read, isReplay }: { read: ReadList; isReplay: boolean },
): Promise<unknown> {
  if (answers === 'saved') return (output as { saved: boolean }).saved;
  const listOf = (one: Collection) => (one.entityCount === 0 ? empty(one) : read(one.id));
  if (answers === 'collections') return inSteps(output as Collection[], listOf);
  if (answers === 'collection') {
    const collection = output as Collection;
    if (!isReplay) return (await listOf(collection)) ?? empty(collection);
    // A request that is repeated with its idempotency key gets the first answer again, even if the list has been changed or
    // deleted since. The stored answer has no ids, so the current ids are shown (spec#existing-clients-list-key).
    const entityIds = (await read(collection.id))?.entityIds ?? [];
    return { ...empty(collection), entityIds };
  }
  const list = await read((output as { collection: { id: string } }).collection.id);
  if (!list) throw new ApiError('collection/not-found');
  return list;
}

function empty(collection: Collection): List {
  return { ...collection, entityIds: [], entities: [] };
}

/** Makes lists from collections, `atOnce` at a time. Leaves out collections that have been deleted meanwhile. */
async function inSteps(
  collections: readonly Collection[],
  listOf: (one: Collection) => List | Promise<List | null>,
): Promise<List[]> {
  const lists: List[] = [];
  for (let at = 0, ids = 0; at < collections.length; at += atOnce) {
    const show = ids < mostIds ? listOf : empty;
    for (const list of await Promise.all(collections.slice(at, at + atOnce).map(show))) {
      ids += list?.entityIds.length ?? 0;
      if (list) lists.push(list);
    }
  }
  return lists;
}

function readerFor(bus: Bus, request: Forwarded, deadline: number): ReadList {
  const { projectId, caller, requestId, traceparent } = request;
  if (projectId === null || !caller) throw new ApiError('auth/unauthorized');
  const { userId } = caller;
  return async (collectionId) => {
    const context = { requestId, deadline, traceparent };
    try {
      const whose = { projectId, userId, collectionId };
      const { collection } = await ask(bus, collectionWithEntities, whose, context);
      return collection && { ...collection, entities: [] };
    } catch (error) {
      throw busFailure(error);
    }
  };
}

function withBody({ headers }: Message, text: string): Message {
  return { headers, body: new TextEncoder().encode(text) };
}
