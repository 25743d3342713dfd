import { exportCollections } from '@kith/contracts';
import { exportPage, internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { toCollection } from '../collection.ts';
import { placeInTree } from '../store/place.ts';

/** Returns a page of a user's collections for an export, sorted by their keys. The page leaves out deleted collections. */
export const exportCollectionsHandler = internalHandler(exportCollections, async (body, app: AppContext) => {
  const { projectId, userId, after, limit } = body;
  const found = await app.store.all({ projectId, userId }, { after: after ?? '', limit });
  const page = exportPage(found.collections, { limit, show: toCollection, position: placeInTree });
  return { items: page.items, next: page.next ?? found.next };
});
