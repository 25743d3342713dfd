import { ApiError } from '@kith/base';
import { getFile as spec } from '@kith/contracts';
import { downloadHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { answerBytes } from '../downloads/answer-bytes.ts';

/** Answers with the bytes of a file. Anyone who knows the file's address gets them (spec#storage-get). */
export const getFile = downloadHandler(spec, async (request, app: AppContext) => {
  const file = await app.store.find(request.projectId, request.params.fileId);
  if (!file) throw new ApiError('storage/not-found');
  return answerBytes(request, app, { file, bytes: file.original });
});
