import { ApiError } from '@kith/base';
import { getProjectLean } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Returns what older client libraries ask about a project before anybody has signed in (spec#existing-clients-lean). */
export const getProjectLeanHandler = handler(getProjectLean, async (request, app: AppContext) => {
  const project = await app.store.projects.find(request.projectId);
  if (!project) throw new ApiError('project/not-found');
  return { id: project.id, name: project.name, integrations: [] };
});
