import { ApiError } from '@kith/base';
import { deleteProjectFile as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { deleteOwned } from './delete-file.ts';

/** For an operator, deletes a file of any user (spec#storage-delete-any). */
export const deleteProjectFile = handler(spec, async ({ params, deadline }, app: AppContext) => {
  const { projectId, fileId } = params;
  const file = await app.store.find(projectId, fileId);
  if (!file) throw new ApiError('storage/not-found');
  await deleteOwned(app, { projectId, userId: file.userId, fileId, deadline });
  return undefined;
});
