import { listConnections } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { connectionListOf } from '../connection-views.ts';
import { listPeople } from '../list-people.ts';

/**
 * Lists the caller's established connections (spec#connections-list). A block ends the connection between the two users. So
 * this list contains no users who have to be hidden.
 */
export const listHandler = handler(listConnections, async (request, app: AppContext) => {
  const of = { spec: listConnections, ownerId: request.caller.userId, list: 'established' } as const;
  return connectionListOf(await listPeople(app, request, of), request);
});
