import { importCollections, importConnections, importUsers, type OperationSpec } from '@kith/contracts';

/** A row with only the required fields of an import. A thousand rows of this kind fit into a body. */
export function importedRow(spec: OperationSpec): object {
  const [id, brief] = ['00000000-0000-4000-8000-00000000000d', '2020-01-02T03:04:05Z'];
  if (spec === importUsers) return { id };
  if (spec === importConnections)
    return { requesterForeignId: 'x', receiverForeignId: 'y', requestedAt: brief };
  if (spec === importCollections) return { userForeignId: 'x', id, name: 'x', createdAt: brief };
  return { userForeignId: 'x', entityId: 'x', addedAt: brief };
}
