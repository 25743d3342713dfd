import { eventOrder, usersByIds } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { publicUserOf } from '../user-views.ts';

/** Returns the users with the given ids to other services, which keep copies of users. Unknown ids are left out. */
export const usersByIdsHandler = internalHandler(
  usersByIds,
  async ({ projectId, userIds }, app: AppContext) => {
    const users = await app.store.users.findMany(projectId, userIds);
    return {
      users: users.map((user) => ({
        seq: eventOrder({ seq: user.seq, epoch: app.epoch }),
        user: publicUserOf(user),
      })),
    };
  },
);
