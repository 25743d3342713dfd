import { exportConnectionSettings } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Gives, for an export, a user's settings for requests and for their own list. */
export const exportSettingsHandler = internalHandler(
  exportConnectionSettings,
  async ({ projectId, userId }, app: AppContext) => {
    const stored = await app.store.settings.stored({ projectId, userId });
    return { items: stored ? [stored] : [], next: null };
  },
);
