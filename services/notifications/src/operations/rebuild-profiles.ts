import { rebuildNotificationsProfiles } from '@kith/contracts';
import { handler, rebuildProfiles } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Copies a page of identity's users; a profile that is held and newer stays. */
export const rebuildProfilesHandler = handler(rebuildNotificationsProfiles, (request, app: AppContext) =>
  rebuildProfiles(app, request),
);
