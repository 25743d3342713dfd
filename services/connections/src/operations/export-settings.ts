import { exportConnectionSettings } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Gives what a user has decided about requests and the own list for an export. */
export const exportSettingsHandler = internalHandler(
  exportConnectionSettings,
  async ({ projectId, userId }, app: AppContext) => {
    const stored = await app.store.settings.stored({ projectId, userId });
    return { items: stored ? [stored] : [], next: null };
  },
);
