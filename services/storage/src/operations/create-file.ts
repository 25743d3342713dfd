import { createFile as spec } from '@kith/contracts';
import { uploadHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { ownerOf, toPlainFile } from '../file.ts';
import { receive } from '../uploads/receive.ts';
import { fileReceiver } from '../uploads/receive-file.ts';

/** Stores bytes of any kind as a file of the caller (spec#storage-upload-file). */
export const createFile = uploadHandler(spec, async (request, app: AppContext) =>
  toPlainFile(
    await receive(request, app, {
      upload: spec.upload,
      intent: { ...ownerOf(request), receiver: fileReceiver(app) },
    }),
    app.addresses,
  ),
);
