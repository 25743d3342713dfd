import { updateConnectionSettings } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Changes the given settings of the caller. They apply from the answer on (spec#connections-settings). */
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
