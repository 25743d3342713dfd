import { getProjectSettings } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { deletedSettingsOf, gatewaySettingsOf } from '../project-settings.ts';

/**
 * The maximum number of projects in a page. A project's settings take 45 KB at most, so a page fits in a message of the bus.
 */
const pageSize = 50;

/**
 * Returns the settings that gateways enforce, for each project that has set any. Also returns which projects are deleted.
 * Sorted by id.
 */
export const projectSettingsHandler = internalHandler(
  getProjectSettings,
  async ({ after }, app: AppContext) => {
    const { projects } = app.store;
    const found = await projects.withSettings(after ?? '', pageSize);
    // The deleted projects are read last. So a project that is deleted between the two reads is in both results. Then it must
    // count as deleted.
    const deleted = await projects.deletedAfter(after ?? '', pageSize);
    const all = new Map(found.map((project) => [project.id, gatewaySettingsOf(project)]));
    for (const id of deleted) all.set(id, deletedSettingsOf(id));
    const page = [...all.keys()].sort().slice(0, pageSize);
    return {
      projects: page.flatMap((id) => all.get(id) ?? []),
      next: page.length === pageSize ? (page.at(-1) ?? null) : null,
    };
  },
);
