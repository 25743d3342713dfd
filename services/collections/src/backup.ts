import { collectionDeleted } from '@kith/contracts';
import type { ServiceBackup } from '@kith/store/backup';
import { collections, declared, entities, idOf } from './store/collections.ts';
import { entityPlace, entityRange, placedEntity } from './store/entity-place.ts';
import { placed } from './store/place.ts';

/** The data of the collections service in a backup. */
export const collectionsBackup: ServiceBackup = {
  service: 'collections',
  declared,
  follows: [
    {
      rows: entities,
      target: collections,
      of: ({ id, doc }) => entityRange({ projectId: placed(id).projectId, id: idOf(doc, id) }),
    },
  ],
  standing: ({ type, aggregate }, copied) => ({
    seq: copied.findBy(collections, 'id', aggregate.id)?.doc.seq,
    isLast: type === collectionDeleted.type,
  }),
  // After the deletion, the purge erases everything below the collection. The copy can contain the collection as it was before
  // the deletion, but only a part of the collections and entities below it. So the copy marks the collection as deleted, too.
  ended({ type, aggregate: { id, seq } }, copied) {
    const found = type === collectionDeleted.type ? copied.findBy(collections, 'id', id) : undefined;
    if (!found || found.doc.seq >= seq) return undefined;
    return { in: collections, id: found.id, doc: { ...found.doc, seq, deleted: true } };
  },
  anonymous: {
    collections(stored, made) {
      const { id, doc } = made.mapped(stored);
      // All roots have the same name, so this name stays as it is.
      return { id, doc: doc.root ? doc : { ...doc, name: made.title(doc.name) } };
    },
    entities(stored, made) {
      const { id, doc } = made.mapped(stored);
      const { projectId, collectionId, addedAt } = placedEntity(id);
      const entityId = made.text(doc.entityId);
      const place = entityPlace({ projectId, id: collectionId }, { entityId, addedAt, metadata: {} });
      return { id: place, doc: { ...doc, entityId, metadata: {} } };
    },
    // The collections in an anonymous copy have new ids. So an import cannot bring back a deleted collection, and the copy
    // needs no list of deleted ids.
    endedCollections: () => null,
    erased: (stored, made) => made.mapped(stored),
  },
};
