import { knownUsers } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

/**
 * Tells another service which of the given ids and foreign ids belong to users. Other services need this for imports, because
 * an imported row names its user by id or by foreign id.
 */
export const knownUsersHandler = internalHandler(
  knownUsers,
  async ({ projectId, ids, foreignIds }, app: AppContext) => {
    if (!(await app.store.projects.find(projectId))) return { isProject: false, ids: [], foreignIds: [] };
    return { isProject: true, ...(await app.store.imports.known(projectId, { ids, foreignIds })) };
  },
);
