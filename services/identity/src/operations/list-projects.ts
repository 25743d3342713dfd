import { generalPaginationOf, listProjects } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { fitting } from '../fitting.ts';
import { readPage } from '../listing.ts';
import { projectAnswer } from '../project-settings.ts';

/**
 * Lists the projects, newest first, by page or by cursor (spec#projects-list). If a key is limited to some projects, lists only
 * these projects (spec#operator-keys-projects). If the settings are long, a page has fewer projects (spec#projects-list-long).
 */
export const listProjectsHandler = handler(listProjects, async (request, app: AppContext) => {
  const only = request.operator?.projectIds ?? null;
  const found = await readPage(request, {
    binding: [listProjects.name],
    code: 'project/invalid-query',
    read: (range) => app.store.projects.list(range, only),
    fitting: (rows) => fitting(rows.map(projectAnswer)),
  });
  return { data: found.rows.map(projectAnswer), pagination: generalPaginationOf(found) };
});
