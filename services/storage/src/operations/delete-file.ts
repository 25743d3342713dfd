import { ApiError } from '@kith/base';
import { deleteFile as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import { changeAccount } from '../account.ts';
import type { AppContext } from '../app.ts';
import { ownerOf } from '../file.ts';

/**
 * Deletes one of the caller's files. From then on, the file is gone for everybody. Its bytes are removed afterwards
 * (spec#storage-delete).
 */
export const deleteFile = handler(spec, async (request, app: AppContext) => {
  const owner = ownerOf(request);
  await changeAccount(
    app,
    owner,
    async (account) => {
      // `made` settles the account first. Otherwise a file that was just deleted could be found, and be deleted twice.
      const file = await app.store.made(account, request.params.fileId);
      if (!file) throw new ApiError('storage/not-found');
      if (file.userId !== owner.userId) throw new ApiError('auth/forbidden');
      // The account of a deleted user is emptied before its rows are removed.
      if (account.doc.files === 0) throw new ApiError('storage/not-found');
      return app.store.delete(account, file);
    },
    { deadline: request.deadline },
  );
  app.relay.kick();
  app.remover.kick();
  return undefined;
});
