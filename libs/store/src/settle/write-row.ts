import { clocksMs } from '@kith/base';
import type { Collection, OptionalUnlessRequiredId } from 'mongodb';
import { isMongoDuplicate } from '../drivers/mongo.ts';
import type { RowFields, RowWrite } from './plan.ts';

/**
 * How long a removed row is remembered, in ms. A writer trusts its plan for a far shorter time (`trustMs`), but its clock and
 * the clock of the database may differ.
 */
const goneForMs = clocksMs + 10 * 60_000;

/**
 * Writes a row, unless a later change of its target has written it already. Resolves to `false` if nothing could be written by
 * `until` (Unix time in ms). After `until`, another process may have settled the plan. A later change may then have removed the
 * row so long ago that the database no longer remembers it.
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
    // Checks the time again, because this process may have been suspended. Meanwhile, another process may have written the row,
    // a later change may have removed it, and the database may have deleted it permanently. Such a row must not be written
    // again.
    if (Date.now() > until) return false;
    const written = await rows.replaceOne({ _id: row.id, rev: { $lt: rev } }, content);
    if (written.matchedCount > 0) return true;
    if (!row.put && (await insertRow(rows, { _id: row.id, ...goneRow(), rev }))) return true;
    if (await rows.findOne({ _id: row.id, rev: { $gte: rev } }, { projection: { _id: 1 } })) return true;
  }
  return false;
}

/**
 * The content of a row that no list shows. With `rev: -1`, such a row is a placeholder until the real row replaces it. The
 * write that makes the row visible can only replace a row, not insert one. A writer may be suspended shortly before this write,
 * and the placeholder may be replaced or deleted meanwhile. Then the late write has no effect.
 */
export function goneRow(): { gone: true; expireAt: Date } {
  return { gone: true, expireAt: new Date(Date.now() + goneForMs) };
}

/**
 * Inserts a row. Does not use an upsert: some compatible servers report no duplicate key to the slower of two racing upserts.
 */
async function insertRow(rows: Collection<RowFields>, row: RowFields): Promise<boolean> {
  try {
    await rows.insertOne(row as OptionalUnlessRequiredId<RowFields>);
    return true;
  } catch (error) {
    if (!isMongoDuplicate(error)) throw error;
    return false;
  }
}
