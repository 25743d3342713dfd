import { ApiError } from '@kith/base';
import { collectionDeleted, deleteCollection as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { changeCollection } from '../change.ts';
import { changed, collectionEvent } from '../collection.ts';

/**
 * Deletes a collection of the caller's. From then on nobody can access it or anything below it; what is left in the store is
 * purged in the background (spec#collections-delete). For the root, the answer is that of a collection that does not exist.
 */
export const deleteCollection = handler(spec, async (request, app: AppContext) => {
  await changeCollection(request, app, async (current) => {
    if (current.parentId === null) throw new ApiError('collection/not-found');
    const deleted = changed(current, {});
    const event = collectionEvent(collectionDeleted, deleted);
    if (!(await app.store.delete(current, deleted, event))) return null;
    app.relay.kick();
    return deleted;
  });
  return undefined;
});
