import { ApiError, fold } from '@kith/base';
import { generalPaginationOf, listProjectUsers } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { readPage } from '../listing.ts';
import { projectUsersOf } from '../project-user-views.ts';

/** Lists a project's users for operators, newest first, by page or by cursor (spec#admin-users-list). */
export const listProjectUsersHandler = handler(listProjectUsers, async (request, app: AppContext) => {
  const { projectId } = request.params;
  if (!(await app.store.projects.find(projectId))) throw new ApiError('project/not-found');
  const search = fold(request.query.query ?? '');
  const found = await readPage(request, {
    binding: [listProjectUsers.name, projectId, search],
    code: 'project/invalid-query',
    read: (range) => app.store.people.list(projectId, search, range),
  });
  const users = await app.store.users.withSignIns(found.rows);
  return { data: await projectUsersOf(app, users), pagination: generalPaginationOf(found) };
});
