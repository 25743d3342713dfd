import { collectionWithEntities } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { toCollection } from '../collection.ts';

const newest = { from: { skip: 0 }, limit: 1000, newestFirst: true };

/** Gives a collection with the ids of what is saved in it, in the order in which it was saved. */
export const withEntitiesHandler = internalHandler(
  collectionWithEntities,
  async ({ collectionId, ...owner }, app: AppContext) => {
    const found = await app.store.withEntities(owner, collectionId, newest);
    if (!found) return { collection: null };
    const entityIds = found.entities.map(({ entityId }) => entityId).reverse();
    return { collection: { ...toCollection(found.collection), entityIds } };
  },
);
