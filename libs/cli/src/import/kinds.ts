import {
  importCollections,
  importConnections,
  importEntities,
  importedCollection,
  importedConnection,
  importedEntity,
  importedUser,
  importUsers,
  type OperationSpec,
} from '@kith/contracts';
import type { z } from 'zod';

/** One kind of file: what its lines are, and where they are sent. */
export interface ImportKind {
  name: 'users' | 'connections' | 'collections' | 'entities';
  row: z.ZodType;
  operation: OperationSpec;
  /** Requests at once. One where a row may build on another: a collection on its parent. */
  atOnce: number;
}

/** Every kind, in the order in which they have to come: each builds on those before it. */
export const importKinds: readonly ImportKind[] = [
  { name: 'users', row: importedUser, operation: importUsers, atOnce: 3 },
  { name: 'connections', row: importedConnection, operation: importConnections, atOnce: 3 },
  { name: 'collections', row: importedCollection, operation: importCollections, atOnce: 1 },
  { name: 'entities', row: importedEntity, operation: importEntities, atOnce: 3 },
];

/** The address of a kind, for a project. */
export function importPath({ operation }: ImportKind, projectId: string): string {
  return operation.path.replace(':projectId', projectId);
}
