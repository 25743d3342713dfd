import { ApiError } from '@kith/base';
import { updateProject } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { projectAnswer, settingsOf } from '../project-settings.ts';

/** Changes the given settings of a project in one write, and keeps the others (spec#projects-update). */
export const updateProjectHandler = handler(updateProject, async (request, app: AppContext) => {
  const { projectId } = request.params;
  const settings = settingsOf(request.body);
  const changes = Object.keys(settings).length > 0;
  const project = changes
    ? await app.store.projects.update(projectId, settings, new Date(), request.deadline)
    : await app.store.projects.find(projectId);
  if (!project) throw new ApiError('project/not-found');
  if (changes) app.notices.tellSettings(project);
  return projectAnswer(project);
});
