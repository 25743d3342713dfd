import { rebuildConnectionsProfiles } from '@kith/contracts';
import { handler, rebuildProfiles } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Copies a page of identity's users. A profile that is held already and is newer stays. */
export const rebuildProfilesHandler = handler(rebuildConnectionsProfiles, (request, app: AppContext) =>
  rebuildProfiles(app, request),
);
