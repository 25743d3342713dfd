import { generalPaginationOf, listBlocks } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { listPeople } from '../list-people.ts';

/** Lists the users whom the caller blocks (spec#blocks-list). */
export const listBlocksHandler = handler(listBlocks, async (request, app: AppContext) => {
  const of = { spec: listBlocks, ownerId: request.caller.userId, list: 'blocks' } as const;
  const found = await listPeople(app, request, of);
  return {
    data: found.entries.map(({ id, user, requestedAt }) => ({
      id,
      user,
      createdAt: requestedAt.toISOString(),
    })),
    pagination: generalPaginationOf(found),
  };
});
