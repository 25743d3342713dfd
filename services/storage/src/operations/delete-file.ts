import { ApiError } from '@kith/base';
import { deleteFile as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import { afterChange } from '@kith/store';
import { changeAccount } from '../account.ts';
import type { AppContext } from '../app.ts';
import { type FileRecord, ownerOf } from '../file.ts';
import type { Account, Claim } from '../store/index.ts';

/**
 * Deletes one of the caller's files. From then on, the file is gone for everybody. Its bytes are removed afterwards
 * (spec#storage-delete).
 */
export const deleteFile = handler(spec, async (request, app: AppContext) => {
  const owner = ownerOf(request);
  let claim: Claim | undefined;
  await changeAccount(
    app,
    owner,
    async (account) => {
      // `made` settles the account before it looks for the file. Without this, a file that was just deleted could be found and
      // deleted again.
      const file = await app.store.made(account, request.params.fileId);
      if (!file) throw new ApiError('storage/not-found');
      if (file.userId !== owner.userId) throw new ApiError('auth/forbidden');
      // The account of a deleted user is emptied before its rows are removed.
      if (account.doc.files === 0) throw new ApiError('storage/not-found');
      claim = await claimToRelease(app, account, file);
      return app.store.delete(account, file);
    },
    { deadline: request.deadline },
  );
  // If this fails, the claim expires by itself.
  await afterChange(async () => claim && app.store.release(claim).catch(() => undefined));
  app.relay.kick();
  app.remover.kick();
  return undefined;
});

/**
 * Returns the claim on the id of an imported file if the deletion of the file may release the claim. After the release, another
 * user can use the id. While the owner has an upload in progress, the claim has to stay, because this upload may be an import
 * of the same file. The claim is read after the account and before the account's change. If an upload begins meanwhile, either
 * the change fails, or the upload renews the claim after this read, and the claim is not released.
 */
async function claimToRelease(
  { store }: AppContext,
  { doc }: Account,
  file: FileRecord,
): Promise<Claim | undefined> {
  const mayReturn = doc.loose.some(({ isDead }) => !isDead);
  return file.bytesId === undefined || mayReturn ? undefined : store.claimOn(file);
}
