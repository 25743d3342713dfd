import { rebuildConnectionsProfiles } from '@kith/contracts';
import { handler, rebuildProfiles } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Copies a page of identity's users. If the copy has a newer profile of a user, that one stays. */
export const rebuildProfilesHandler = handler(rebuildConnectionsProfiles, (request, app: AppContext) =>
  rebuildProfiles(app, request),
);
