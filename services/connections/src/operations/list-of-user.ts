import { ApiError } from '@kith/base';
import { listUserConnections } from '@kith/contracts';
import { findUsers, handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { connectionListOf } from '../connection-views.ts';
import { hiddenInListOf } from '../hidden-lists.ts';
import { listPeople, readPage } from '../list-people.ts';

/**
 * A user's established connections as the caller may see them: without whom the caller blocks or is blocked by, in
 * rows and total; empty where that is the user asked for, or keeps the list from others (spec#blocks-hides, spec#connections-settings-list). All that the list needs is asked for at once.
 */
export const listOfUserHandler = handler(listUserConnections, async (request, app: AppContext) => {
  const { projectId, caller } = request;
  const ownerId = request.params.userId;
  const of = { spec: listUserConnections, ownerId, list: 'established' } as const;
  // A bad cursor is told first, before anything is asked for.
  readPage(request, of);
  const hidden = Promise.all([
    hiddenInListOf(app, { projectId, ownerId, callerId: caller?.userId }),
    findUsers(app, { projectId, userIds: [ownerId] }, request),
  ]).then(([people, users]) => {
    if (users.size === 0) throw new ApiError('connection/user-not-found');
    return people;
  });
  const found = await listPeople(app, request, { ...of, hidden });
  // What one wrote to the other is told to the two alone (spec#connections-message-parties).
  const isParty = (userId: string) => caller !== null && [ownerId, userId].includes(caller.userId);
  const entries = found.entries.map((entry) => (isParty(entry.userId) ? entry : { ...entry, message: null }));
  return connectionListOf({ ...found, entries }, request);
});
