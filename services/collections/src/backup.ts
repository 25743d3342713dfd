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
  // From the deletion on, the purge erases what is below. The copy may have the collection as it was before, but only a part of
  // what was below. So the copy gets the deletion, too.
  ended({ type, aggregate: { id, seq } }, copied) {
    const found = type === collectionDeleted.type ? copied.findBy(collections, 'id', id) : undefined;
    if (!found || found.doc.seq >= seq) return undefined;
    return { in: collections, id: found.id, doc: { ...found.doc, seq, deleted: true } };
  },
  anonymous: {
    collections(stored, made) {
      const { id, doc } = made.mapped(stored);
      // All roots have the same name, so a root keeps its name.
      return { id, doc: doc.root ? doc : { ...doc, name: made.title(doc.name) } };
    },
    entities(stored, made) {
      const { id, doc } = made.mapped(stored);
      const { projectId, collectionId, addedAt } = placedEntity(id);
      const entityId = made.text(doc.entityId);
      const place = entityPlace({ projectId, id: collectionId }, { entityId, addedAt, metadata: {} });
      return { id: place, doc: { ...doc, entityId, metadata: {} } };
    },
    // An anonymous copy has other ids, so no import can use an id that ended.
    endedCollections: () => null,
    erased: (stored, made) => made.mapped(stored),
  },
};
