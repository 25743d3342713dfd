import { countConnections } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Returns how many established connections the caller has (spec#connections-count). */
export const countHandler = handler(countConnections, async (request, app: AppContext) => {
  const totals = await app.store.totals(request.projectId, request.caller.userId);
  return { count: totals.established };
});
