import { ApiError } from '@kith/base';
import { collectionDeleted, deleteCollection as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { changeCollection } from '../change.ts';
import { changed, collectionEvent } from '../collection.ts';

/**
 * Deletes one of the caller's collections. From then on, nobody can access the collection or anything below it. What is left in
 * the store is purged in the background (spec#collections-delete). The root cannot be deleted. A request to delete it gets the
 * same answer as a request to delete a missing collection.
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
