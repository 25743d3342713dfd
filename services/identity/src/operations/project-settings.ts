import { getProjectSettings } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { gatewaySettingsOf } from '../project-settings.ts';

/** A project's settings take 45 KB at most: a page fits in a message of the bus. */
const pageSize = 50;

/** Answers what gateways go by of each project that has set any of it, by id. */
export const projectSettingsHandler = internalHandler(
  getProjectSettings,
  async ({ after }, app: AppContext) => {
    const found = await app.store.projects.withSettings(after ?? '', pageSize);
    return {
      projects: found.map(gatewaySettingsOf),
      next: found.length === pageSize ? (found.at(-1)?.id ?? null) : null,
    };
  },
);
