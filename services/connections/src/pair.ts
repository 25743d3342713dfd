import { randomUUID } from 'node:crypto';
import type { PairState, Part, Transition } from './machine.ts';

/** A block, by which one user of a pair blocks the other. */
export interface Block {
  /** New for each block. */
  id: string;
  blockerId: string;
  at: Date;
}

/** Two users of a project, and the state between them. Lists and totals are made from pairs. */
export interface Pair {
  projectId: string;
  /** The two users' ids, sorted as text. */
  lower: string;
  higher: string;
  /** The `seq` of the last event. It is 0 before the first event. */
  seq: number;
  state: PairState;
  /** At most one block by each user. If there is a block, the state is `none` or `declined`. */
  blocks: readonly Block[];
  /** In state `none`, this field and the fields below are null. */
  requesterId: string | null;
  receiverId: string | null;
  /** New for each request. */
  connectionId: string | null;
  message: string | null;
  requestedAt: Date | null;
  /** When the request was accepted or declined. */
  respondedAt: Date | null;
}

/** A pair in a state other than `none`. */
export type LivePair = Pair & {
  connectionId: string;
  requesterId: string;
  receiverId: string;
  requestedAt: Date;
};

/** The two ids of a pair in the order in which they are stored. */
export function inOrder(one: string, other: string): { lower: string; higher: string } {
  return one < other ? { lower: one, higher: other } : { lower: other, higher: one };
}

/** The pair of two users for whom nothing is stored. */
export function strangers(projectId: string, one: string, other: string): Pair {
  return { projectId, ...inOrder(one, other), seq: 0, state: 'none', blocks: [], ...blank };
}

/** The other user of a pair. */
export function otherOf(pair: Pair, userId: string): string {
  return userId === pair.lower ? pair.higher : pair.lower;
}

/** A user's part in a pair; `null` if the user has none. */
export function partOf(pair: Pair, userId: string): Part | null {
  if (pair.requesterId === userId) return 'requester';
  return pair.receiverId === userId ? 'receiver' : null;
}

/** Makes the pair that a transition leads to. `message` is the message of a request. */
export function advance(
  pair: Pair,
  transition: Transition,
  by: { userId: string; at: Date; message: string | null },
): Pair {
  const next = { ...pair, state: transition.to, seq: pair.seq + 1 };
  if (transition.to === 'none') return { ...next, ...blank };
  if (!transition.begins) return { ...next, respondedAt: by.at };
  return {
    ...next,
    requesterId: by.userId,
    receiverId: otherOf(pair, by.userId),
    connectionId: randomUUID(),
    message: by.message,
    requestedAt: by.at,
    respondedAt: null,
  };
}

/**
 * Makes the pair as it is after one user blocks the other. The block ends their connection or request. A declined request
 * stays, because it has already ended. If the block removed the declined request, the requester could block and unblock the
 * receiver, and then ask again. Returns `null` if the block exists already.
 */
export function withBlock(pair: Pair, by: { userId: string; at: Date }): Pair | null {
  if (pair.blocks.some(({ blockerId }) => blockerId === by.userId)) return null;
  const block = { id: randomUUID(), blockerId: by.userId, at: by.at };
  const next = { ...pair, seq: pair.seq + 1, blocks: [...pair.blocks, block] };
  return pair.state === 'declined' ? next : { ...next, state: 'none', ...blank };
}

/** Makes the pair without the user's block of the other user. Returns `null` if there is no such block. */
export function withoutBlock(pair: Pair, userId: string): Pair | null {
  const blocks = pair.blocks.filter(({ blockerId }) => blockerId !== userId);
  if (blocks.length === pair.blocks.length) return null;
  return { ...pair, seq: pair.seq + 1, blocks };
}

/** Makes the pair without its declined request. There is no event, because the request had ended already. */
export function withoutRequest(pair: Pair): Pair {
  return { ...pair, state: 'none', ...blank };
}

const blank = {
  requesterId: null,
  receiverId: null,
  connectionId: null,
  message: null,
  requestedAt: null,
  respondedAt: null,
} as const;
