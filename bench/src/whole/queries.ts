import type { Db } from 'mongodb';

/** A page of twenty rows needs 21 rows from the database, because the last row shows whether another page follows. */
const limit = 21;

interface Stored {
  _id: string;
  /** The document, as JSON. */
  d: string;
}

/**
 * Reads page 1 of a user's connections. Makes the same queries as the service makes for a single request: first the query for
 * the total and the query for the rows at the same time, then the query for the profiles. `bench/tests/bench.test.ts` compares
 * these queries with the service's own queries.
 */
export async function pageQueries(
  db: Db,
  { projectId, userId }: { projectId: string; userId: string },
): Promise<Stored[]> {
  const list = `${projectId}|${userId}|e`;
  const there = { shape: { $exists: true } };
  const [, rows] = await Promise.all([
    db
      .collection<{ _id: string }>('totals')
      .find({ _id: { $in: [`${projectId}|${userId}|totals`] } }, { batchSize: 1 })
      .toArray(),
    db
      .collection<Stored>('entries')
      .find(
        { _id: { $gt: `${list}|`, $lt: `${list}}` }, ...there },
        { sort: { _id: 1 }, skip: 0, limit, batchSize: limit },
      )
      .toArray(),
  ]);
  const ids = rows.slice(0, limit - 1).map(({ d }) => `${projectId}|${JSON.parse(d).userId}`);
  return db
    .collection<Stored>('profiles')
    .find({ _id: { $in: ids }, ...there }, { batchSize: ids.length })
    .toArray();
}
