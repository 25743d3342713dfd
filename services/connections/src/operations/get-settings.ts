import { getConnectionSettings } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** The caller's settings for requests and for their own list (spec#connections-settings). */
export const getSettingsHandler = handler(getConnectionSettings, ({ projectId, caller }, app: AppContext) =>
  app.store.settings.of({ projectId, userId: caller.userId }),
);
