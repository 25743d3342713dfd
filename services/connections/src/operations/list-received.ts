import { listReceivedRequests } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { requestListOf } from '../connection-views.ts';
import { listPeople } from '../list-people.ts';

/** Lists the requests that wait for the caller's answer (spec#connections-list-received). */
export const listReceivedHandler = handler(listReceivedRequests, async (request, app: AppContext) => {
  const of = { spec: listReceivedRequests, ownerId: request.caller.userId, list: 'received' } as const;
  return requestListOf(await listPeople(app, request, of), 'received', request);
});
