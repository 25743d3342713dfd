import { eventOrder, usersPage } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { fitting } from '../fitting.ts';
import { publicUserOf } from '../user-views.ts';

const pageSize = 2_000;

/** Returns a page of all users. Other services rebuild their copies from these pages. */
export const usersPageHandler = internalHandler(usersPage, async ({ after }, app: AppContext) => {
  const found = await app.store.people.page(after ?? '', pageSize);
  const all = found.map((user) => ({
    seq: eventOrder({ seq: user.seq, epoch: app.epoch }),
    user: publicUserOf(user),
  }));
  const users = all.slice(0, fitting(all));
  const isWhole = users.length === found.length && found.length < pageSize;
  const last = isWhole ? undefined : users.at(-1)?.user;
  return { users, next: last ? `${last.projectId}|${last.id}` : null };
});
