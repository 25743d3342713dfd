import { randomUUID } from 'node:crypto';
import { Turns } from '@kith/base';
import { collectionsBackup } from '@kith/collections';
import {
  type CollectionRecord,
  collections,
  entities,
  entityPlace,
  listEntities as listEntitiesHandler,
  listSubCollections as listSubCollectionsHandler,
  newCollection,
  openStore,
  placeOf,
  storedEntity,
  storedOf,
} from '@kith/collections/testing';
import { listEntities, listSubCollections } from '@kith/contracts';
import { documentRow, movedDocuments } from '@kith/store/open';
import { serveAlone } from '@kith/testing';
import { endingWith } from './connections.ts';
import { interleave } from './interleave.ts';
import { firstMs, type Layout, type SeedRow, type Target } from './layout.ts';

/**
 * One user's collections. For each length in `children`, there is a collection with that many collections below it. For each length
 * in `entities`, there is a collection with that many entities.
 */
export function collectionsLayout(of: { children: number[]; entities: number[] }): Layout {
  const owner = { projectId: randomUUID(), userId: randomUUID() };
  const root = newCollection(owner, { name: 'root', parent: null });
  const below = (parent: CollectionRecord, age = 0, entityCount = 0): CollectionRecord => {
    const record = newCollection(owner, { name: 'collection', parent });
    return { ...record, entityCount, createdAt: firstMs + age, updatedAt: firstMs + age };
  };
  const parents = of.children.map((size, age) => ({ size, record: below(root, age) }));
  const shelves = of.entities.map((size, age) => ({ size, record: below(root, age, size) }));

  function* rows(): Generator<SeedRow> {
    for (const record of [root, ...[...parents, ...shelves].map((one) => one.record)]) yield rowOf(record);
    yield* interleave([
      ...parents.map(({ size, record }) => ({ size, rows: childrenOf(record, size) })),
      ...shelves.map(({ size, record }) => ({ size, rows: entitiesOf(record, size) })),
    ]);
  }

  function* childrenOf(parent: CollectionRecord, size: number): Generator<SeedRow> {
    for (let age = 0; age < size; age++) yield rowOf(below(parent, age));
  }

  const targetOf = ({ size, record }: { size: number; record: CollectionRecord }): Target => {
    return { size, ...owner, params: { collectionId: record.id } };
  };
  return {
    move: movedDocuments(collectionsBackup),
    rows,
    kinds: [
      {
        name: 'sub-collections',
        title: 'collections in a collection',
        spec: listSubCollections,
        hasNumbers: false,
        hasQuery: false,
        targets: parents.map(targetOf),
      },
      {
        name: 'entities',
        title: 'entities in a collection',
        spec: listEntities,
        hasNumbers: true,
        hasQuery: false,
        targets: shelves.map(targetOf),
      },
    ],
    async serve(config) {
      const store = await openStore(config);
      const parts = { store, relay: { kick: () => undefined }, turns: new Turns() };
      const handlers = [listSubCollectionsHandler, listEntitiesHandler];
      return endingWith(
        await serveAlone(handlers, (bus) => ({ ...parts, bus }), { checkOutput: false }),
        store,
      );
    },
  };
}

function rowOf(record: CollectionRecord): SeedRow {
  return documentRow(collections, placeOf(record), storedOf(record));
}

function* entitiesOf(collection: CollectionRecord, size: number): Generator<SeedRow> {
  for (let age = 0; age < size; age++) {
    const entity = { entityId: `entity ${age}`, addedAt: firstMs + age, metadata: null };
    yield documentRow(entities, entityPlace(collection, entity), storedEntity(collection, entity));
  }
}
