import { ApiError } from '@kith/base';
import { getProject } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { projectAnswer } from '../project-settings.ts';

/** Looks a project up (spec#projects-get). */
export const getProjectHandler = handler(getProject, async (request, app: AppContext) => {
  const project = await app.store.projects.find(request.params.projectId);
  if (!project) throw new ApiError('project/not-found');
  return projectAnswer(project);
});
