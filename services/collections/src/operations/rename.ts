import { ApiError } from '@kith/base';
import { collectionRenamed, renameCollection as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { changeCollection } from '../change.ts';
import { changed, collectionEvent, toCollection } from '../collection.ts';

/**
 * Renames one of the caller's collections. A missing collection, another user's collection and the root all get the same answer
 * (spec#collections-not-found). If the collection has this name already, nothing changes: no event is published, and
 * `updatedAt` stays the same.
 */
export const rename = handler(spec, async (request, app: AppContext) => {
  const { name } = request.body;
  return changeCollection(request, app, async (current) => {
    if (current.parentId === null) throw new ApiError('collection/not-found');
    if (current.name === name) return toCollection(current);
    const renamed = changed(current, { name });
    const event = collectionEvent(collectionRenamed, renamed);
    if (!(await app.store.replace(current, renamed, event))) return null;
    app.relay.kick();
    return toCollection(renamed);
  });
});
