import { derivedId } from '@kith/base';
import type { ImportedConnection } from '@kith/contracts';
import { type LivePair, type Pair, strangers } from './pair.ts';

/**
 * The pair that an imported row describes. The import of this pair makes no event. The pair's first change in Kith makes the
 * event with `seq` 1.
 */
export function pairOfRow(
  projectId: string,
  row: ImportedConnection,
  between: { requesterId: string; receiverId: string },
): LivePair {
  const { requesterId, receiverId } = between;
  const requestedAt = new Date(row.requestedAt);
  const respondedAt = new Date(row.connectedAt ?? row.requestedAt);
  return {
    ...strangers(projectId, requesterId, receiverId),
    state: row.state,
    requesterId,
    receiverId,
    connectionId: row.id ?? derivedId('connection', projectId, requesterId, receiverId),
    message: row.message ?? null,
    requestedAt,
    respondedAt: row.state === 'pending' ? null : respondedAt,
  };
}

/** The fields of a row that differ from the stored connection. Fields that the row leaves out are not compared. */
export function differingFields(
  row: ImportedConnection,
  { given, stored }: { given: LivePair; stored: Pair },
): (keyof ImportedConnection)[] {
  const isRequester = given.requesterId === stored.requesterId;
  const isReceiver = given.receiverId === stored.receiverId;
  const isSame: Record<keyof ImportedConnection, boolean> = {
    // A row is compared only with a stored connection of the same id, so the ids never differ.
    id: true,
    requesterId: isRequester,
    requesterForeignId: isRequester,
    receiverId: isReceiver,
    receiverForeignId: isReceiver,
    state: given.state === stored.state,
    message: given.message === stored.message,
    requestedAt: given.requestedAt.getTime() === stored.requestedAt?.getTime(),
    connectedAt: given.respondedAt?.getTime() === stored.respondedAt?.getTime(),
  };
  const fields = Object.keys(isSame) as (keyof ImportedConnection)[];
  return fields.filter((field) => row[field] !== undefined && !isSame[field]);
}
