import { ApiError } from '@kith/base';
import { listUserConnections } from '@kith/contracts';
import { findUsers, handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { connectionListOf } from '../connection-views.ts';
import { hiddenInListOf } from '../hidden-lists.ts';
import { listPeople, readPage } from '../list-people.ts';

/**
 * Lists a user's established connections as the caller may see them. Rows and total leave out all users whom the caller blocks,
 * and all users who block the caller. If the caller blocks the list's owner, or the owner blocks the caller, the list is empty.
 * The list is also empty if its owner hides it from others (spec#blocks-hides, spec#connections-settings-list). The handler
 * makes all its queries in parallel.
 */
export const listOfUserHandler = handler(listUserConnections, async (request, app: AppContext) => {
  const { projectId, caller, deadline } = request;
  const ownerId = request.params.userId;
  const of = { spec: listUserConnections, ownerId, list: 'established' } as const;
  // Refuses a bad cursor before anything is looked up.
  readPage(request, of);
  const hidden = Promise.all([
    hiddenInListOf(app, { projectId, ownerId, callerId: caller?.userId, deadline }),
    findUsers(app, { projectId, userIds: [ownerId] }, request),
  ]).then(([people, users]) => {
    if (users.size === 0) throw new ApiError('connection/user-not-found');
    return people;
  });
  const found = await listPeople(app, request, { ...of, hidden });
  // Only the two users of a connection get to see its message (spec#connections-message-parties).
  const isParty = (userId: string) => caller !== null && [ownerId, userId].includes(caller.userId);
  const entries = found.entries.map((entry) => (isParty(entry.userId) ? entry : { ...entry, message: null }));
  return connectionListOf({ ...found, entries }, request);
});
