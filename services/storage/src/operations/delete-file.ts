import { ApiError } from '@kith/base';
import { deleteFile as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import { afterChange } from '@kith/store';
import { changeAccount } from '../account.ts';
import type { AppContext } from '../app.ts';
import { type FileRecord, type Owner, ownerOf } from '../file.ts';
import type { Account, Claim } from '../store/index.ts';

/**
 * Deletes one of the caller's files. Afterwards, nobody can find the file any more. Its bytes are removed later
 * (spec#storage-delete).
 */
export const deleteFile = handler(spec, async (request, app: AppContext) => {
  const { params, deadline } = request;
  await deleteOwned(app, { ...ownerOf(request), fileId: params.fileId, deadline });
  return undefined;
});

/** Deletes a file. Throws `auth/forbidden` if it belongs to another user. */
export async function deleteOwned(
  app: AppContext,
  { fileId, deadline, ...owner }: Owner & { fileId: string; deadline: number | undefined },
): Promise<void> {
  let claim: Claim | undefined;
  await changeAccount(
    app,
    owner,
    async (account) => {
      // `made` first completes the last change of the account, and then looks for the file. Otherwise, a file that was just
      // deleted could be found and deleted again.
      const file = await app.store.made(account, fileId);
      if (!file) throw new ApiError('storage/not-found');
      if (file.userId !== owner.userId) throw new ApiError('auth/forbidden');
      // The account may contain no files although a row was found. Then the user's account was emptied because the user was
      // deleted, and the rows are just being removed.
      if (account.doc.files === 0) throw new ApiError('storage/not-found');
      claim = await claimToRelease(app, account, file);
      return app.store.delete(account, file);
    },
    { deadline },
  );
  // If the claim cannot be released, it expires by itself.
  await afterChange(async () => claim && app.store.release(claim).catch(() => undefined));
  app.relay.kick();
  app.remover.kick();
}

/**
 * Returns the claim on the id of an imported file, if the claim may be released when the file is deleted. As soon as the claim
 * is released, another user can use the id. If the owner has an upload in progress, the claim has to stay, because this upload
 * may be an import of the same file. The claim is read after the account, and before the account is changed. So if an upload
 * begins meanwhile, one of two things happens. Either the change of the account fails, or the upload renews the claim after the
 * claim was read here. A claim that was renewed after it was read is not released.
 */
async function claimToRelease(
  { store }: AppContext,
  { doc }: Account,
  file: FileRecord,
): Promise<Claim | undefined> {
  const mayReturn = doc.loose.some(({ isDead }) => !isDead);
  return file.bytesId === undefined || mayReturn ? undefined : store.claimOn(file);
}
