import { usersPage } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { publicUserOf } from '../user-views.ts';

const pageSize = 100;

/** Gives other services all users, to rebuild their copies from. */
export const usersPageHandler = internalHandler(usersPage, async ({ after }, app: AppContext) => {
  const users = await app.store.people.page(after ?? '', pageSize);
  const last = users.length === pageSize ? users.at(-1) : undefined;
  return {
    users: users.map((user) => ({ seq: user.seq, user: publicUserOf(user) })),
    next: last ? `${last.projectId}|${last.id}` : null,
  };
});
