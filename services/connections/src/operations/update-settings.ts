import { updateConnectionSettings } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';

/**
 * Changes those settings of the caller that the request contains. The new settings are in force when the caller gets the answer
 * (spec#connections-settings).
 */
export const updateSettingsHandler = handler(updateConnectionSettings, (request, app: AppContext) => {
  const { projectId, caller, body, deadline } = request;
  const { requestsFrom, showsConnections } = body;
  return app.store.settings.change(
    { projectId, userId: caller.userId },
    (before) => ({
      requestsFrom: requestsFrom ?? before.requestsFrom,
      showsConnections: showsConnections ?? before.showsConnections,
    }),
    deadline,
  );
});
