import { z } from 'zod';
import { internalOperation, operation } from '../operation.ts';
import { uuid, wholeNumber } from '../scalars.ts';
import { nothing } from './shared.ts';
import { publicUser } from './users.ts';

/**
 * The position in a walk through all items. As `after`, null means the beginning; as `next`, null means that there is no
 * further page.
 */
const position = z.string().max(300).nullable();

/** All users of all projects, page by page. For each user, `seq` is the `eventOrder` of the user's last event. */
export const usersPage = internalOperation({
  name: 'identity.users-page',
  feature: 'user',
  body: z.object({ after: position }),
  output: z.object({
    users: z.array(z.object({ seq: z.int(), user: publicUser })),
    next: position,
  }),
  errors: [],
});

const block = { projectId: uuid, blockerId: uuid, blockedId: uuid };

/** All current blocks, page by page. For each block, `seq` is the `eventOrder` of the last event about these two users. */
export const blocksPage = internalOperation({
  name: 'connections.blocks-page',
  feature: 'connection',
  body: z.object({ after: position }),
  output: z.object({
    blocks: z.array(z.object({ ...block, seq: z.int() })),
    next: position,
  }),
  errors: [],
});

/**
 * Returns for each of the given blocks whether the block exists now. For each block, `seq` is the `eventOrder` of the last
 * event about these two users.
 */
export const standingBlocks = internalOperation({
  name: 'connections.standing-blocks',
  feature: 'connection',
  body: z.object({ blocks: z.array(z.object(block)).max(1_000) }),
  output: z.object({
    blocks: z.array(z.object({ ...block, isBlocked: z.boolean(), seq: z.int() })),
  }),
  errors: [],
});

const rebuild = {
  method: 'POST',
  scope: 'none',
  auth: 'operator',
  operatorScope: 'projects:write',
  narrowsToProjects: true,
  limit: null,
  params: nothing,
  query: nothing,
  body: z.object({
    after: position.default(null),
    projectId: uuid.optional().describe('Only the data of this project.'),
  }),
  output: z.object({ copied: wholeNumber, next: position }),
  status: 200,
  errors: ['auth/forbidden'],
} as const;

/**
 * Copies a page of the identity service's users into the copy of profiles that the connections service keeps. Call again with
 * the returned `next` as `after`, until `next` is null.
 */
export const rebuildConnectionsProfiles = operation({
  ...rebuild,
  name: 'connections.rebuild-profiles',
  summary: 'Copy a page of users into the profiles of the connections service',
  feature: 'connection',
  path: '/admin/copies/connections-profiles',
});

/**
 * Copies a page of the identity service's users into the copy of profiles that the notifications service keeps. Call again with
 * the returned `next` as `after`, until `next` is null.
 */
export const rebuildNotificationsProfiles = operation({
  ...rebuild,
  name: 'notifications.rebuild-profiles',
  summary: 'Copy a page of users into the profiles of the notifications service',
  feature: 'app-notification',
  path: '/admin/copies/notifications-profiles',
});

/**
 * Copies a page of the connections service's blocks into the copy of blocks that the identity service keeps. After the last
 * page, removes from this copy the blocks that no longer exist in the connections service. Call again with the returned `next`
 * as `after`, until `next` is null.
 */
export const rebuildIdentityBlocks = operation({
  ...rebuild,
  name: 'identity.rebuild-blocks',
  summary: 'Copy a page of blocks into the blocks of the identity service',
  feature: 'user',
  path: '/admin/copies/identity-blocks',
});

export const copyOperations = [
  rebuildConnectionsProfiles,
  rebuildNotificationsProfiles,
  rebuildIdentityBlocks,
] as const;
