import { createImage as spec } from '@kith/contracts';
import { uploadHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { ownerOf, toImage } from '../file.ts';
import { receive } from '../uploads/receive.ts';
import { imageReceiver } from '../uploads/receive-image.ts';

/**
 * Stores an image for the caller, upright and without metadata. Smaller sizes of the image are stored as well
 * (spec#storage-images).
 */
export const createImage = uploadHandler(spec, async (request, app: AppContext) => {
  const record = await receive(request, app, {
    upload: spec.upload,
    intent: { ...ownerOf(request), receiver: imageReceiver(app, (fields) => request.fields(fields)) },
  });
  if (!record.image) throw new Error('An image was stored as a plain file.');
  return toImage(record, record.image, app.addresses);
});
