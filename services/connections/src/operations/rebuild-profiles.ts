import { rebuildConnectionsProfiles } from '@kith/contracts';
import { handler, rebuildProfiles } from '@kith/service';
import type { AppContext } from '../app.ts';

/**
 * Copies a page of identity's users into this service. If this service has a newer profile of a user, it keeps the newer
 * profile.
 */
export const rebuildProfilesHandler = handler(rebuildConnectionsProfiles, (request, app: AppContext) =>
  rebuildProfiles(app, request),
);
