import { rebuildNotificationsProfiles } from '@kith/contracts';
import { handler, rebuildProfiles } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Copies a page of identity's users. If this service already has a newer profile of a user, the newer profile stays. */
export const rebuildProfilesHandler = handler(rebuildNotificationsProfiles, (request, app: AppContext) =>
  rebuildProfiles(app, request),
);
