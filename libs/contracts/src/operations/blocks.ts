import { z } from 'zod';
import { generalList, listQuery } from '../lists.ts';
import { operation } from '../operation.ts';
import { timestamp, uuid } from '../scalars.ts';
import { byUser, common } from './connection-shared.ts';
import { nothing, perFiveMinutes } from './shared.ts';
import { publicUser } from './users.ts';

const block = {
  ...common,
  path: '/users/:userId/block',
  limit: perFiveMinutes(50),
  params: byUser,
  query: nothing,
  body: nothing,
  output: z.undefined(),
  status: 204,
  errors: ['connection/self-block', 'connection/user-not-found'],
  invalid: { params: 'connection/user-not-found' },
} as const;

/**
 * Blocks a user. The block ends the connection or request between the two users. While the block lasts, each of the two users
 * is hidden from the other (spec#blocks-ends-pair, spec#blocks-hides). A declined request stays declined, so blocking and
 * unblocking a user does not allow a second request.
 */
export const blockUser = operation({
  ...block,
  name: 'connections.block',
  summary: 'Block a user',
  method: 'POST',
});

/** Takes back the caller's block of a user (spec#blocks-unblock). */
export const unblockUser = operation({
  ...block,
  name: 'connections.unblock',
  summary: 'Unblock a user',
  method: 'DELETE',
});

/** A block that the caller has made: `user` is the blocked user. */
export const standingBlock = z.object({ id: uuid, user: publicUser, createdAt: timestamp });

/** The users whom the caller blocks, newest block first (spec#blocks-list). */
export const listBlocks = operation({
  ...common,
  name: 'connections.list-blocks',
  summary: 'List the users that the caller blocks',
  method: 'GET',
  path: '/blocks',
  limit: perFiveMinutes(100),
  params: nothing,
  query: listQuery({ limit: 20, max: 100 }),
  body: nothing,
  output: generalList(standingBlock),
  status: 200,
  errors: [],
});

export const blockOperations = [blockUser, unblockUser, listBlocks] as const;
