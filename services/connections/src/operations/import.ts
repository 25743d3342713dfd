import { type ImportedConnection, type ImportResult, importConnections } from '@kith/contracts';
import { handler, nameUsers } from '@kith/service';
import type { AppContext } from '../app.ts';
import { differingFields, pairOfRow } from '../import-pair.ts';
import type { LivePair } from '../pair.ts';

/**
 * Imports connections and requests between users. It publishes no events, so nobody is notified (docs/adr/0018). A connection,
 * request or block that already exists between two users stays as it is. If a row's connection exists already, the row changes
 * nothing.
 */
export const importHandler = handler(importConnections, async (request, app: AppContext) => {
  const { projectId } = request.params;
  const { rows } = request.body;
  const sides = rows.map((row) => ({
    requester: { id: row.requesterId, foreignId: row.requesterForeignId },
    receiver: { id: row.receiverId, foreignId: row.receiverForeignId },
  }));
  const names = sides.flatMap(({ requester, receiver }) => [requester, receiver]);
  const idOf = await nameUsers(app.bus, { projectId, names }, request);
  const rejected: ImportResult['rejected'] = [];
  const pairs: { row: number; given: ImportedConnection; pair: LivePair }[] = [];
  for (const [row, given] of rows.entries()) {
    const requesterId = idOf(sides[row]?.requester ?? {});
    const receiverId = idOf(sides[row]?.receiver ?? {});
    if (!requesterId || !receiverId) rejected.push({ row, reason: 'user-not-found' });
    else if (requesterId === receiverId) rejected.push({ row, reason: 'same-user' });
    else pairs.push({ row, given, pair: pairOfRow(projectId, given, { requesterId, receiverId }) });
  }
  const outcomes = await app.store.import(
    projectId,
    pairs.map(({ pair }) => pair),
  );
  let [imported, unchanged] = [0, 0];
  for (const [at, outcome] of outcomes.entries()) {
    const { row, given, pair } = pairs[at]!;
    if (outcome === 'stored') imported++;
    else if (typeof outcome === 'string') rejected.push({ row, reason: outcome });
    else {
      const fields = differingFields(given, { given: pair, stored: outcome });
      if (fields.length === 0) unchanged++;
      else rejected.push({ row, reason: 'conflict', fields });
    }
  }
  return { imported, unchanged, rejected: rejected.sort((one, other) => one.row - other.row) };
});
