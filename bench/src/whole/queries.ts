import type { Db } from 'mongodb';

/** Rows that are read for a page of twenty: one more tells whether another follows. */
const limit = 21;

/**
 * The queries of page 1 of a user's connections, as the service sends them: the total and the rows at once, then the
 * profiles. `tests/bench.test.ts` holds them against the service's own.
 */
export async function pageQueries(
  db: Db,
  { projectId, userId }: { projectId: string; userId: string },
): Promise<{ _id: string; user: string }[]> {
  const list = `${projectId}|${userId}|e`;
  const [, rows] = await Promise.all([
    db.collection<{ _id: string }>('heads').findOne({ _id: `${projectId}|${userId}` }),
    db
      .collection<{ _id: string; userId: string }>('edges')
      .find(
        { _id: { $gt: `${list}|`, $lt: `${list}}` }, projectId: { $exists: true } },
        { sort: { _id: 1 }, skip: 0, limit, batchSize: limit, projection: { _id: 0, rev: 0 } },
      )
      .toArray(),
  ]);
  const ids = rows.slice(0, limit - 1).map((row) => `${projectId}|${row.userId}`);
  return db
    .collection<{ _id: string; user: string }>('profiles')
    .find({ _id: { $in: ids } }, { batchSize: ids.length })
    .toArray();
}
