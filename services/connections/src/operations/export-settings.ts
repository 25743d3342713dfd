import { exportConnectionSettings } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

/**
 * Returns a user's settings for an export. They say who may ask the user to connect, and whether others see the user's list.
 */
export const exportSettingsHandler = internalHandler(
  exportConnectionSettings,
  async ({ projectId, userId }, app: AppContext) => {
    const stored = await app.store.settings.stored({ projectId, userId });
    return { items: stored ? [stored] : [], next: null };
  },
);
