import { exportNotificationSettings } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { settingsOf } from '../settings-view.ts';

/** Returns the types of notifications that a user has turned off, for an export. */
export const exportSettingsHandler = internalHandler(
  exportNotificationSettings,
  async ({ projectId, userId }, app: AppContext) => {
    const stored = await app.store.settings.stored({ projectId, userId });
    return { items: stored ? [settingsOf(stored)] : [], next: null };
  },
);
