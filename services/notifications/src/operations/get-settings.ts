import { getNotificationSettings } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { settingsOf } from '../settings-view.ts';

/** Which types of notifications the caller gets (spec#notifications-settings). */
export const getSettingsHandler = handler(
  getNotificationSettings,
  async ({ projectId, caller }, app: AppContext) =>
    settingsOf(await app.store.settings.of({ projectId, userId: caller.userId })),
);
