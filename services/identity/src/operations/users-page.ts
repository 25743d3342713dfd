import { eventOrder, usersPage } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { publicUserOf } from '../user-views.ts';

const pageSize = 500;
/**
 * How many bytes a page may have: half of what a message holds (`maxPayload`). If profiles have the longest texts and metadata,
 * only a few fit in a page.
 */
const pageBytes = 2 * 1024 * 1024;

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

/** How many of the values fit into a page; at least one. */
function fitting(values: readonly unknown[]): number {
  let bytes = 0;
  for (const [index, value] of values.entries()) {
    bytes += Buffer.byteLength(JSON.stringify(value));
    if (bytes > pageBytes) return Math.max(index, 1);
  }
  return values.length;
}
