import { decodeCursor, encodeCursor, foreignCursor, type ListPosition, type Logger } from '@kith/base';
import type { OperationSpec, PublicUser } from '@kith/contracts';
import { askForUsers, type RequestContext, shownTo } from '@kith/service';
import type { AppContext } from './app.ts';
import { type Entry, isPlace, type ListName, placeOf } from './listing.ts';
import { searchList, searchOf } from './search.ts';
import { unknownUser } from './unknown-user.ts';
import { listVisible, nothing, type VisiblePage } from './visible.ts';

/** How long a list waits for identity's answer about users of whom this service has no copy, in ms. */
const askMs = 1_000;

/** Which list to read, for which operation, and whom to leave out. */
export interface PeopleListOptions {
  spec: OperationSpec;
  ownerId: string;
  list: ListName;
  /**
   * The users whom the caller must not see. They are looked up while the list is read. Absent if the list cannot hold such
   * users.
   */
  hidden?: Promise<ReadonlySet<string>>;
}

interface PeopleListRequest extends Pick<RequestContext, 'caller' | 'seesAll'> {
  projectId: string;
  query: {
    page: number;
    limit: number;
    cursor?: string | undefined;
    query?: string | undefined;
    searchFields?: 'username' | 'name' | undefined;
  };
  requestId: string;
  deadline: number;
  log: Logger;
  linkNext(cursor: string): void;
}

/** A page of a list, with the numbers for its pagination. */
export interface PeopleList {
  entries: (Entry & { user: PublicUser })[];
  page: number;
  limit: number;
  total: number;
  hasMore: boolean;
}

/**
 * Reads a page of a list, by number or by cursor. Each entry has the profile of its user. The page is from the whole list or
 * from the matches of a search (spec#lists-cursor, spec#connections-search).
 */
export async function listPeople(
  app: AppContext,
  request: PeopleListRequest,
  options: PeopleListOptions,
): Promise<PeopleList> {
  const { projectId, query } = request;
  const { ownerId, list } = options;
  const { limit } = query;
  const { page, from, search, binding } = readPage(request, options);
  // Reads one row more than the page shows, to know whether another page follows.
  const range = { projectId, ownerId, list, from, limit: limit + 1 };
  const usersOf = (entries: readonly Entry[]) => showUsers(app, entries, request);
  const found = await read();

  const entries = found.entries.slice(0, limit);
  const hasMore = found.entries.length > limit;
  const last = entries.at(-1);
  if (hasMore && last) request.linkNext(encodeCursor({ after: placeOf(last), page: page + 1 }, binding));
  const users = found.users ?? (await usersOf(entries));
  const asShown = shownTo(request);
  const shown = entries.map((entry) => ({
    ...entry,
    user: asShown(users.get(entry.userId) ?? unknownUser(projectId, entry.userId, entry.requestedAt)),
  }));
  return { entries: shown, page, limit, total: found.total, hasMore };

  async function read(): Promise<VisiblePage> {
    if (search) {
      const hidden = (await options.hidden) ?? new Set();
      const bring = bringer(app, request);
      return hidden.has(ownerId)
        ? nothing
        : searchList(app.store, range, { search, hidden, bring, deadline: request.deadline });
    }
    if (options.hidden) return listVisible(app.store, range, { hidden: options.hidden, usersOf });
    return app.store.list(range);
  }
}

/**
 * Reads from the request which page to show. Throws if the cursor is bad. A handler that looks up its target must call this
 * function before the look-up, because a bad query has to be refused before a missing target (spec#errors-check-order).
 */
export function readPage(
  request: Pick<PeopleListRequest, 'projectId' | 'caller' | 'query'>,
  options: Pick<PeopleListOptions, 'spec' | 'ownerId'>,
) {
  const { projectId, caller, query } = request;
  const search = searchOf(query);
  const filters = search ? [search.query, ...search.fields] : [];
  const binding = [options.spec.name, projectId, caller?.userId ?? '', options.ownerId, ...filters];
  const position = query.cursor === undefined ? undefined : readCursor(query.cursor, binding);
  const page = position?.page ?? query.page;
  const from = position ? { after: position.after } : { skip: (page - 1) * query.limit };
  return { page, from, search, binding };
}

function readCursor(cursor: string, binding: readonly string[]): ListPosition {
  const code = 'connection/invalid-query';
  const position = decodeCursor(cursor, binding, code);
  if (isPlace(position.after)) return position;
  throw foreignCursor(code);
}

/** Returns the users who are named in the entries of a page. Leaves out users whom neither this service nor identity knows. */
async function showUsers(
  app: AppContext,
  entries: readonly Entry[],
  request: PeopleListRequest,
): Promise<Map<string, PublicUser>> {
  const userIds = entries.map(({ userId }) => userId);
  const users = await app.store.profiles.find(request.projectId, userIds);
  const missing = userIds.filter((userId) => !users.has(userId));
  for (const user of await bringer(app, request)(missing)) users.set(user.id, user);
  return users;
}

/**
 * Returns a function that asks identity for users who are missing in the copy, and adds them to the copy. If identity does not
 * answer, the list does not fail. It shows no profiles of these users, and the function does not ask identity again.
 */
function bringer(app: AppContext, request: PeopleListRequest) {
  const { projectId, requestId } = request;
  const deadline = Math.min(request.deadline, Date.now() + askMs);
  let isAway = false;
  return async (userIds: readonly string[]): Promise<PublicUser[]> => {
    if (isAway) return [];
    try {
      return await askForUsers(app, { projectId, userIds }, { requestId, deadline });
    } catch (error) {
      isAway = true;
      request.log.warn({ err: error }, 'users are listed without their profiles');
      return [];
    }
  };
}
