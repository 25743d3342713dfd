import { ApiError } from '@kith/base';
import { deleteProject } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';

/**
 * Deletes a project, and informs gateways immediately. The project's data is erased in the background (spec#projects-delete).
 */
export const deleteProjectHandler = handler(deleteProject, async (request, app: AppContext) => {
  const { projectId: id } = request.params;
  const { projects } = app.store;
  if (await projects.find(id)) {
    const remove = () => projects.remove(id, new Date(), request.deadline);
    await app.erasures.noted({ projectId: id }, remove);
  } else if (!(await projects.findDeleting(id))) throw new ApiError('project/not-found');
  app.notices.tellDeleted(id);
  return { id, status: 'deleting' as const };
});
