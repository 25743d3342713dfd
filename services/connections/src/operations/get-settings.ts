import { getConnectionSettings } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Returns the caller's settings for requests and for the caller's own list (spec#connections-settings). */
export const getSettingsHandler = handler(getConnectionSettings, ({ projectId, caller }, app: AppContext) =>
  app.store.settings.of({ projectId, userId: caller.userId }),
);
