import { z } from 'zod';
import { generalList, listQuery } from '../lists.ts';
import { internalOperation, operation } from '../operation.ts';
import { timestamp, uuid } from '../scalars.ts';
import { nothing, perFiveMinutes } from './shared.ts';
import { publicUser } from './users.ts';

const common = { feature: 'connection', scope: 'project', auth: 'user', shortForm: true } as const;

const block = {
  ...common,
  path: '/users/:userId/block',
  limit: perFiveMinutes(50),
  params: z.object({ userId: uuid }),
  query: nothing,
  body: nothing,
  output: z.undefined(),
  status: 204,
  errors: ['connection/self-block', 'connection/user-not-found'],
  invalid: { params: 'connection/user-not-found' },
} as const;

/**
 * Blocks a user: ends what is between the two, and neither appears to the other while it stands (SPEC B3). A declined
 * request has ended before and stays declined, so that blocking is no way to ask again.
 */
export const blockUser = operation({ ...block, name: 'connections.block', method: 'POST' });

/** Takes the caller's block of a user back (SPEC B3). */
export const unblockUser = operation({ ...block, name: 'connections.unblock', method: 'DELETE' });

/** Whom the caller blocks, newest first (SPEC B3). */
export const listBlocks = operation({
  ...common,
  name: 'connections.list-blocks',
  method: 'GET',
  path: '/blocks',
  limit: perFiveMinutes(100),
  params: nothing,
  query: listQuery({ limit: 20, max: 100 }),
  body: nothing,
  output: generalList(z.object({ id: uuid, user: publicUser, createdAt: timestamp })),
  status: 200,
  errors: [],
});

/** Everybody a user blocks or is blocked by: whom other services are not to show to that user. */
export const blocksOf = internalOperation({
  name: 'connections.blocks-of',
  feature: 'connection',
  body: z.object({ projectId: uuid, userId: uuid }),
  output: z.object({ userIds: z.array(uuid) }),
  errors: [],
});
