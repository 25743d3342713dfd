import type { Collection, OptionalUnlessRequiredId } from 'mongodb';
import { isMongoDuplicate } from '../drivers/mongo.ts';
import type { RowFields, RowWrite } from './plan.ts';

/** How long a row that was taken away is remembered: far longer than a writer trusts its plan. */
const goneForMs = 10 * 60_000;

/**
 * Writes a row, unless a later change of its target has written it already. Resolves to `false` when nothing could be
 * written by `until` (Unix time in ms): after that, others may have settled the plan long ago, and the row may no longer
 * show that a later change has taken it away.
 */
export async function writeRow(
  rows: Collection<RowFields>,
  row: RowWrite,
  options: { rev: number; until: number },
): Promise<boolean> {
  const { rev, until } = options;
  const content = row.put ? { ...row.put, rev } : { ...goneRow(), rev };
  while (Date.now() <= until) {
    if (row.put) await insertRow(rows, { _id: row.id, ...goneRow(), rev: -1 });
    // Checks the time again: a process that was suspended here must not fill a place that is free because the row came and went.
    if (Date.now() > until) return false;
    const written = await rows.replaceOne({ _id: row.id, rev: { $lt: rev } }, content);
    if (written.matchedCount > 0) return true;
    if (!row.put && (await insertRow(rows, { _id: row.id, ...goneRow(), rev }))) return true;
    if (await rows.findOne({ _id: row.id, rev: { $gte: rev } }, { projection: { _id: 1 } })) return true;
  }
  return false;
}

/**
 * A row that no list shows. With `rev: -1` it takes the place of a row before the row is put there. The write that
 * shows the row can only replace, so a writer that is suspended just before that write finds the place taken by others,
 * or gone.
 */
export function goneRow(): { gone: true; expireAt: Date } {
  return { gone: true, expireAt: new Date(Date.now() + goneForMs) };
}

/** Not an upsert: not every compatible server gives a losing upsert a duplicate-key error. */
async function insertRow(rows: Collection<RowFields>, row: RowFields): Promise<boolean> {
  try {
    await rows.insertOne(row as OptionalUnlessRequiredId<RowFields>);
    return true;
  } catch (error) {
    if (!isMongoDuplicate(error)) throw error;
    return false;
  }
}
