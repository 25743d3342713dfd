import { knownUsers } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

/**
 * Tells other services which of these ids and foreign ids belong to users. Rows of their imports name users by id or by foreign
 * id.
 */
export const knownUsersHandler = internalHandler(
  knownUsers,
  async ({ projectId, ids, foreignIds }, app: AppContext) => {
    if (!(await app.store.projects.find(projectId))) return { isProject: false, ids: [], foreignIds: [] };
    return { isProject: true, ...(await app.store.imports.known(projectId, { ids, foreignIds })) };
  },
);
