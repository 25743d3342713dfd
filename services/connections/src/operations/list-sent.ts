import { listSentRequests } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { requestListOf } from '../connection-views.ts';
import { listPeople } from '../list-people.ts';

/** Lists the caller's requests that wait for an answer (spec#connections-list-sent). */
export const listSentHandler = handler(listSentRequests, async (request, app: AppContext) => {
  const of = { spec: listSentRequests, ownerId: request.caller.userId, list: 'sent' } as const;
  return requestListOf(await listPeople(app, request, of), 'sent', request);
});
