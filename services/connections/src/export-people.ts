import type { BodyOf, exportConnections, PublicUser } from '@kith/contracts';
import { exportPage, findUsers, type InternalContext } from '@kith/service';
import type { AppContext } from './app.ts';
import { type Entry, type ListName, placeOf } from './listing.ts';
import { unknownUser } from './unknown-user.ts';

/** The part of a list to export. All exports of connections take the same body. */
export type ExportRange = BodyOf<typeof exportConnections>;

/** Returns a page from one of a user's lists, for an export. Each row has the public data of the other user. */
export async function exportList<Item>(
  app: AppContext,
  of: { list: ListName; body: ExportRange; context: InternalContext },
  show: (entry: Entry, user: PublicUser) => Item,
): Promise<{ items: Item[]; next: string | null }> {
  const { projectId, userId: ownerId, after, limit } = of.body;
  const from = { after: after ?? '' };
  const { entries } = await app.store.list({ projectId, ownerId, list: of.list, from, limit: limit + 1 });
  const showUser = await publicUsers(app, entries, of);
  return exportPage(entries, {
    limit,
    show: (entry) => show(entry, showUser(entry.userId, entry.requestedAt)),
    position: placeOf,
  });
}

/**
 * Finds the users who are named in the rows of a page. Throws if identity has to be asked about a user and does not answer. A
 * list may leave out a profile, because people load the list again later. But nobody repeats an export, so an export must not
 * leave out a profile.
 */
export async function publicUsers(
  app: AppContext,
  rows: readonly { userId: string }[],
  { body, context }: { body: ExportRange; context: InternalContext },
): Promise<(userId: string, existedBy: Date) => PublicUser> {
  const { projectId } = body;
  const users = await findUsers(app, { projectId, userIds: rows.map(({ userId }) => userId) }, context);
  return (userId, existedBy) => users.get(userId) ?? unknownUser(projectId, userId, existedBy);
}
