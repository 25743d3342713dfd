import { derivedId } from '@kith/base';
import type { ImportedConnection } from '@kith/contracts';
import { type LivePair, type Pair, strangers } from './pair.ts';

/** The pair that a row of another backend describes. It has no events: its first change in Kith makes event 1. */
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
    message: row.message,
    requestedAt,
    respondedAt: row.state === 'pending' ? null : respondedAt,
  };
}

/** The fields of a row that differ from the stored connection. A field that is absent does not count. */
export function differingFields(
  row: ImportedConnection,
  { given, stored }: { given: LivePair; stored: Pair },
): (keyof ImportedConnection)[] {
  const isRequester = given.requesterId === stored.requesterId;
  const isReceiver = given.receiverId === stored.receiverId;
  const isSame: Record<keyof ImportedConnection, boolean> = {
    // The stored connection was found by its id.
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
