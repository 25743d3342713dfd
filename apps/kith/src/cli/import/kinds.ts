import {
  type ImportedCollection,
  type ImportedConnection,
  type ImportedEntity,
  type ImportedFile,
  type ImportedUser,
  importCollections,
  importConnections,
  importEntities,
  importedCollection,
  importedConnection,
  importedEntity,
  importedFile,
  importedUser,
  importFile,
  importRows,
  importUsers,
  type OperationSpec,
} from '@kith/contracts';
import type { z } from 'zod';
import { type Send, sendFile, sendRows } from './send.ts';

/**
 * The names by which rows depend on others of their file: names of what they create or take, and of what they build on. If a row
 * takes or needs a name that another row takes, their results depend on their order. A name that is shared by chance costs a little
 * time.
 */
export interface RowNames {
  takes: Set<string>;
  needs: Set<string>;
}

/** A kind of file: what its lines hold, and where they are sent. */
export interface ImportKind {
  name: 'users' | 'connections' | 'collections' | 'entities' | 'files';
  row: z.ZodObject;
  operation: OperationSpec;
  /** Most rows of one request. */
  rowsAtOnce: number;
  send: Send;
  /** Adds the names of a row. */
  addNames(names: RowNames, row: unknown): void;
}

const kind = <Row>(
  name: ImportKind['name'],
  row: z.ZodObject & z.ZodType<Row>,
  operation: OperationSpec,
  addNames: (names: RowNames, row: Row) => void,
): ImportKind => ({
  ...{ name, row, operation, rowsAtOnce: importRows, send: sendRows },
  addNames: (names, one) => addNames(names, one as Row),
});

/** Every kind, in the order in which they have to be imported: each builds on those before it. */
export const importKinds: readonly ImportKind[] = [
  kind<ImportedUser>('users', importedUser, importUsers, ({ takes }, row) => {
    if (row.id) takes.add(row.id);
    if (row.foreignId) takes.add(row.foreignId);
    if (row.email) takes.add(row.email);
    if (row.username) takes.add(row.username.toLowerCase());
  }),
  kind<ImportedConnection>('connections', importedConnection, importConnections, ({ takes }, row) => {
    const one = row.requesterId ?? row.requesterForeignId ?? '';
    const other = row.receiverId ?? row.receiverForeignId ?? '';
    takes.add(one < other ? `${one}|${other}` : `${other}|${one}`);
    if (row.id) takes.add(row.id);
  }),
  kind<ImportedCollection>('collections', importedCollection, importCollections, (names, row) => {
    // The id alone, without the owner, who may be named in two ways: each row has to find its parent.
    names.takes.add(row.id);
    if (row.parentId) names.needs.add(row.parentId);
  }),
  kind<ImportedEntity>('entities', importedEntity, importEntities, ({ takes }, row) => {
    takes.add(`${row.userId ?? row.userForeignId}|${row.collectionId ?? ''}|${row.entityId}`);
  }),
  {
    ...kind<ImportedFile>('files', importedFile, importFile, ({ takes }, { id }) => void takes.add(id)),
    ...{ rowsAtOnce: 1, send: sendFile },
  },
];

/** The address of a kind, for a project. */
export function importPath({ operation }: ImportKind, projectId: string): string {
  return operation.path.replace(':projectId', projectId);
}
