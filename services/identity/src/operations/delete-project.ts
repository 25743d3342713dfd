import { ApiError } from '@kith/base';
import { deleteProject } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Deletes a project: gateways are told immediately, and its data is erased in the background (spec#projects-delete). */
export const deleteProjectHandler = handler(deleteProject, async (request, app: AppContext) => {
  const { projectId: id } = request.params;
  const { projects } = app.store;
  if (await projects.find(id)) {
    await app.erasures.note({ projectId: id });
    await projects.remove(id, new Date(), request.deadline);
  } else if (!(await projects.findDeleting(id))) throw new ApiError('project/not-found');
  app.notices.tellDeleted(id);
  return { id, status: 'deleting' as const };
});
