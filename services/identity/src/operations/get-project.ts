import { ApiError } from '@kith/base';
import { getProject } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { projectAnswer } from '../project-settings.ts';

/**
 * Returns a project. If the project is being deleted, returns how far the deletion has come (spec#projects-get,
 * spec#projects-deleting).
 */
export const getProjectHandler = handler(getProject, async (request, app: AppContext) => {
  const { projectId } = request.params;
  const { projects } = app.store;
  const project = await projects.find(projectId);
  if (project) return projectAnswer(project);
  const deleting = await projects.findDeleting(projectId);
  if (!deleting) throw new ApiError('project/not-found');
  const { since, usersLeft } = deleting;
  return { ...projectAnswer(deleting.project), deletion: { since: since.toISOString(), usersLeft } };
});
