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
 * The names (ids, e-mail addresses, usernames and so on) that a row takes or needs. A row takes the names of things that it
 * creates or claims, and needs the names of things that it builds on. If a row takes or needs a name that another row takes,
 * the results depend on the order of the two rows. If two rows share a name only by chance, the import takes a little longer.
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
  /** The maximum number of rows in one request. */
  rowsAtOnce: number;
  send: Send;
  /** Adds the names of a row to `names`. */
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

/** Every kind, in the order in which the kinds have to be imported. Each kind builds on the kinds before it. */
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
    // The name is the id alone, without the owner. Two rows may name the same owner in different ways (`userId` or
    // `userForeignId`). If the name contained the owner, a row might not find the name of its parent.
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

/** The path to which rows of a kind are sent, for a project. */
export function importPath({ operation }: ImportKind, projectId: string): string {
  return operation.path.replace(':projectId', projectId);
}
