import type { Stored } from '@kith/store';
import { type Entry, placed } from '../listing.ts';
import { type LivePair, otherOf, type Pair, strangers } from '../pair.ts';
import type { StoredDecline, StoredEntry, StoredPair } from './collections.ts';
import { usersOf } from './keys.ts';

/** A declined request as one of the two users sees it. */
export interface Decline {
  /** The connection's id. */
  id: string;
  /** The other user. */
  userId: string;
  type: 'sent' | 'received';
  message: string | null;
  requestedAt: Date;
  respondedAt: Date;
}

const reads = new WeakMap<Pair, Stored<StoredPair>>();

/**
 * The stored document from which a pair was read. It is `undefined` if nothing was stored. A change is made only if the
 * document still has this version.
 */
export function readOf(pair: Pair): Stored<StoredPair> | undefined {
  return reads.get(pair);
}

/** Makes a pair from its stored document. */
export function pairOf(read: Stored<StoredPair>): Pair {
  const { projectId, lower, higher } = usersOf(read.id);
  const { seq, blocks, request } = read.doc;
  const pair: Pair = {
    ...strangers(projectId, lower, higher),
    seq,
    blocks: blocks.map((block) => ({ ...block, at: new Date(block.at) })),
    ...(request && {
      state: request.state,
      requesterId: request.requesterId,
      receiverId: request.requesterId === lower ? higher : lower,
      connectionId: request.id,
      message: request.message,
      requestedAt: new Date(request.requestedAt),
      respondedAt: request.respondedAt === null ? null : new Date(request.respondedAt),
    }),
  };
  reads.set(pair, read);
  return pair;
}

/** Makes the document to store for a pair. */
export function storedPair({ seq, blocks, state, ...pair }: Pair): StoredPair {
  const { connectionId: id, requesterId, message, requestedAt, respondedAt } = pair as LivePair;
  return {
    seq,
    blocks: blocks.map((block) => ({ ...block, at: block.at.getTime() })),
    request:
      state === 'none'
        ? null
        : {
            ...{ id, state, requesterId, message },
            requestedAt: requestedAt.getTime(),
            respondedAt: respondedAt?.getTime() ?? null,
          },
  };
}

/** Makes an entry from its stored row. */
export function entryOf({ id: key, doc }: Stored<StoredEntry>): Entry {
  const { projectId, ownerId, list, id, at } = placed(key);
  return {
    ...{ projectId, ownerId, list, id },
    userId: doc.userId,
    message: doc.message,
    requestedAt: new Date(doc.requestedAt),
    connectedAt: list === 'established' ? new Date(at) : null,
  };
}

/** Makes the row to store for an entry. */
export function storedEntry({ userId, message, requestedAt }: Entry): StoredEntry {
  return { userId, message, requestedAt: requestedAt.getTime() };
}

/** Makes a declined request from its stored row. */
export function declineOf({ id: key, doc }: Stored<StoredDecline>): Decline {
  return {
    ...doc,
    // The key ends with the other user's id.
    userId: key.slice(key.lastIndexOf('|') + 1),
    requestedAt: new Date(doc.requestedAt),
    respondedAt: new Date(doc.respondedAt),
  };
}

/** The rows that a pair has in the lists of declined requests, with their ids. */
export function declinesOf(pair: Pair): { id: string; put: StoredDecline }[] {
  if (pair.state !== 'declined') return [];
  const { projectId, lower, higher, requesterId, message, ...rest } = pair as LivePair & {
    respondedAt: Date;
  };
  const times = { requestedAt: rest.requestedAt.getTime(), respondedAt: rest.respondedAt.getTime() };
  return [lower, higher].map((userId) => ({
    id: `${projectId}|${userId}|${otherOf(pair, userId)}`,
    put: { id: rest.connectionId, type: requesterId === userId ? 'sent' : 'received', message, ...times },
  }));
}
