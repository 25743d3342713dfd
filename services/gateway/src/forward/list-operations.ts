import {
  addEntity,
  createSubCollection,
  deleteCollection,
  getRootCollection,
  isEntitySaved,
  listSubCollections,
  type OperationSpec,
  removeEntity,
  renameCollection,
} from '@kith/contracts';

/**
 * What an operation of the collections service returns: a collection, a collection's new count, several collections, whether an
 * entity is saved, or nothing.
 */
type Answers = 'collection' | 'counted' | 'collections' | 'saved' | 'nothing';

/** An operation of the collections service under the name that it has for v6 clients (spec#existing-clients-lists). */
export interface ListRow {
  /**
   * The operation at the old address. It has the same name as the operation of the collections service. So both operations
   * share the service, the limit and the counters.
   */
  operation: OperationSpec;
  answers: Answers;
  /** Turns the received body into the body that the operation takes. Copies only strings; any other value becomes null. */
  bodyOf?: (body: Record<string, unknown>) => Record<string, string | null | undefined>;
  /**
   * The parameter that v6 clients send in the body. In the operation of the collections service, this parameter is in the path.
   */
  paramInBody?: 'entityId';
}

const byId = renameCollection.params;

const rows: readonly ListRow[] = [
  { operation: { ...getRootCollection, path: '/lists/root' }, answers: 'collection' },
  { operation: { ...isEntitySaved, path: '/lists/is-entity-saved' }, answers: 'saved' },
  {
    operation: { ...listSubCollections, path: '/lists/:collectionId/sub-lists' },
    answers: 'collections',
  },
  {
    operation: { ...createSubCollection, path: '/lists/:collectionId/sub-lists' },
    answers: 'collection',
    bodyOf: ({ listName }) => ({ collectionName: textOf(listName) }),
  },
  {
    operation: { ...renameCollection, path: '/lists/:collectionId' },
    answers: 'collection',
    bodyOf: ({ update, name }) => ({ name: textOf((update as { name?: unknown } | null)?.name ?? name) }),
  },
  { operation: { ...deleteCollection, path: '/lists/:collectionId' }, answers: 'nothing' },
  {
    operation: { ...addEntity, method: 'PATCH', path: '/lists/:collectionId/add-entity' },
    answers: 'counted',
    bodyOf: ({ entityId }) => ({ entityId: textOf(entityId) }),
  },
  {
    operation: { ...removeEntity, method: 'PATCH', path: '/lists/:collectionId/remove-entity', params: byId },
    answers: 'counted',
    bodyOf: () => ({}),
    paramInBody: 'entityId',
  },
];

const byOperation = new Map(rows.map((row) => [row.operation, row]));

export const listOperations: readonly OperationSpec[] = rows.map(({ operation }) => operation);

export function listRowOf(operation: OperationSpec): ListRow | undefined {
  return byOperation.get(operation);
}

function textOf(value: unknown): string | null | undefined {
  return typeof value === 'string' || value === undefined ? value : null;
}
