import { collectionWithEntities } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { toCollection } from '../collection.ts';

const newest = { from: { skip: 0 }, limit: 1000, newestFirst: true };

/** Returns a collection with the ids of its newest 1,000 entities, in the order in which they were saved. */
export const withEntitiesHandler = internalHandler(
  collectionWithEntities,
  async ({ collectionId, ...owner }, app: AppContext) => {
    const found = await app.store.withEntities(owner, collectionId, newest);
    if (!found) return { collection: null };
    const entityIds = found.entities.map(({ entityId }) => entityId).reverse();
    return { collection: { ...toCollection(found.collection), entityIds } };
  },
);
