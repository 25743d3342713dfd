import { movedEvents, movedFacts, type ServiceMove } from '@kith/service';
import { openStore } from './index.ts';

/** Collections' data on its way to the distributed form. */
export const collectionsMove: ServiceMove = {
  service: 'collections',
  tables: [
    {
      table: 'collections',
      key: ['place'],
      collection: 'collections',
      document: ({ place, project_id: projectId, user_id: userId, id, name, rev, seq, ...row }) => ({
        _id: place,
        ...{ projectId, userId, id, name, rev, seq },
        parentId: row.parent_id,
        ancestors: JSON.parse(row.ancestors),
        entityCount: row.entity_count,
        createdAt: new Date(row.created_at),
        updatedAt: new Date(row.updated_at),
        ...(row.purge_depth === null ? {} : { purgeDepth: row.purge_depth }),
      }),
    },
    {
      table: 'entities',
      key: ['place'],
      collection: 'entities',
      document: ({ place, saved, collection_id: collectionId, entity_id: entityId, added_at, metadata }) => ({
        _id: place,
        // No change of its collection that is yet to come is as early.
        rev: 1,
        ...{ saved, collectionId, entityId, metadata },
        addedAt: new Date(added_at),
      }),
    },
    {
      table: 'erased',
      key: ['project_id', 'user_id'],
      collection: 'erased',
      document: ({ project_id: projectId, user_id: userId, until }) => ({
        _id: `${projectId}|${userId}`,
        ...{ projectId, userId, until },
      }),
    },
    movedEvents,
    movedFacts,
  ],
  async prepare(config) {
    await (await openStore(config)).close();
  },
};
