import { type ImportReason, importConnections } from '@kith/contracts';
import { handler, nameUsers } from '@kith/service';
import type { LivePair } from '../act.ts';
import type { AppContext } from '../app.ts';
import { pairOfRow } from '../import-pair.ts';

/**
 * Imports what is between users. Nothing is told of it, so nobody is notified (docs/adr/0018). What stands between two
 * users already stays; a row that is there, by its id, changes nothing.
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
  const rejected: { row: number; reason: ImportReason }[] = [];
  const pairs: { row: number; pair: LivePair }[] = [];
  for (const [row, given] of rows.entries()) {
    const requesterId = idOf(sides[row]?.requester ?? {});
    const receiverId = idOf(sides[row]?.receiver ?? {});
    if (!requesterId || !receiverId) rejected.push({ row, reason: 'user-not-found' });
    else if (requesterId === receiverId) rejected.push({ row, reason: 'same-user' });
    else pairs.push({ row, pair: pairOfRow(projectId, given, { requesterId, receiverId }) });
  }
  const outcomes = await app.store.import(
    projectId,
    pairs.map(({ pair }) => pair),
  );
  let [imported, unchanged] = [0, 0];
  for (const [at, { row }] of pairs.entries()) {
    const outcome = outcomes[at] ?? 'there';
    if (outcome === 'stored') imported++;
    else if (outcome === 'there') unchanged++;
    else rejected.push({ row, reason: outcome });
  }
  return { imported, unchanged, rejected: rejected.sort((one, other) => one.row - other.row) };
});
