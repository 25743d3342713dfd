import { ownImages } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Tells identity which of the given files are images that belong to the user. */
export const ownImagesHandler = internalHandler(ownImages, async (body, { store, addresses }: AppContext) => {
  const { projectId, userId, fileIds } = body;
  const account = await store.account({ projectId, userId });
  // `made` is used instead of `find`, because `find` may still find a file that was just deleted. Such a file could become a
  // picture of a profile after the event of its deletion has already been handled.
  const found = await Promise.all(fileIds.map((id) => store.made(account, id)));
  const images = found.filter((file) => file?.userId === userId && file.image !== undefined);
  return {
    images: images.flatMap((file) => (file ? [{ fileId: file.id, address: addresses.of(file) }] : [])),
  };
});
