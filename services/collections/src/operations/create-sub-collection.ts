import { ApiError } from '@kith/base';
import { collectionCreated, createSubCollection as spec } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { collectionEvent, maxDepth, newCollection, ownerOf, toCollection } from '../collection.ts';

/** Creates a collection below another collection of the caller (spec#collections-create). */
export const createSubCollection = handler(spec, async (request, app: AppContext) => {
  const owner = ownerOf(request);
  const parent = await app.store.find(owner, request.params.collectionId);
  if (!parent) throw new ApiError('collection/invalid-parent');
  if (parent.ancestors.length >= maxDepth) throw new ApiError('collection/too-deep');
  const made = newCollection(owner, { name: request.body.collectionName, parent });
  // Nothing is inserted if the parent, or a collection above it, has been deleted meanwhile.
  if (!(await app.store.insert(made, collectionEvent(collectionCreated, made)))) {
    throw new ApiError('collection/invalid-parent');
  }
  app.relay.kick();
  return toCollection(made);
});
