import { ApiError } from '@kith/base';
import { generalPaginationOf, listServerKeys } from '@kith/contracts';
import { handler } from '@kith/service';
import { serverKeyOf } from '../api-key-views.ts';
import type { AppContext } from '../app.ts';
import { readPage } from '../listing.ts';

/** Lists a project's server keys, newest first, by page or by cursor (spec#server-keys-endpoints). */
export const listServerKeysHandler = handler(listServerKeys, async (request, app: AppContext) => {
  const { projectId } = request.params;
  if (!(await app.store.projects.find(projectId))) throw new ApiError('project/not-found');
  const found = await readPage(request, {
    binding: [listServerKeys.name, projectId],
    code: 'auth/invalid-query',
    read: (range) => app.store.apiKeys.list(projectId, range),
  });
  return { data: found.rows.map(serverKeyOf), pagination: generalPaginationOf(found) };
});
