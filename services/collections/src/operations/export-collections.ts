import { exportCollections } from '@kith/contracts';
import { exportPage, internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { toCollection } from '../collection.ts';
import { placeInTree } from '../store/place.ts';

/** Gives a user's collections for an export, in the order of their places. No page shows deleted ones. */
export const exportCollectionsHandler = internalHandler(exportCollections, async (body, app: AppContext) => {
  const { projectId, userId, after, limit } = body;
  const found = await app.store.all({ projectId, userId }, { after: after ?? '', limit });
  const page = exportPage(found.collections, { limit, show: toCollection, position: placeInTree });
  return { items: page.items, next: page.next ?? found.next };
});
