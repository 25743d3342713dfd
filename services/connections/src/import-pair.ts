import type { ImportedConnection } from '@kith/contracts';
import { derivedId } from '@kith/service';
import type { LivePair } from './act.ts';
import { strangers } from './pair.ts';

/** A pair as a row of another back end has it: without events, so that the first change from now on is the first. */
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
    rev: 1,
    seq: 0,
    state: row.state,
    requesterId,
    receiverId,
    connectionId: row.id ?? derivedId('connection', projectId, requesterId, receiverId),
    message: row.message,
    requestedAt,
    respondedAt: row.state === 'pending' ? null : respondedAt,
  };
}
