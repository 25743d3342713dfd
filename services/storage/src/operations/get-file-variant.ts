import { ApiError } from '@kith/base';
import { getFileVariant as spec } from '@kith/contracts';
import { downloadHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { answerBytes } from '../downloads/answer-bytes.ts';

/** Answers with the bytes of an image in one of its sizes (spec#storage-get). */
export const getFileVariant = downloadHandler(spec, async (request, app: AppContext) => {
  const { fileId, variant } = request.params;
  const file = await app.store.find(request.projectId, fileId);
  const variants = file?.image?.variants ?? {};
  const bytes = Object.hasOwn(variants, variant) ? variants[variant] : undefined;
  if (!file || !bytes) throw new ApiError('storage/not-found');
  return answerBytes(request, app, { file, variant, bytes });
});
