import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Block, Pair } from '../pair.ts';

const columns = `project_id AS projectId, lower, higher, rev, seq, state, requester_id AS requesterId,
  receiver_id AS receiverId, connection_id AS connectionId, message, requested_at AS requestedAt,
  responded_at AS respondedAt, blocks`;

type Row = Omit<Pair, 'requestedAt' | 'respondedAt' | 'blocks'> & {
  requestedAt: number | null;
  respondedAt: number | null;
  /** JSON. */
  blocks: string;
};

/** The pairs on SQLite. */
export class SqlitePairs {
  readonly #find: StatementSync;
  readonly #findByConnection: StatementSync;
  readonly #blocked: StatementSync;
  readonly #declined: StatementSync;
  readonly #insert: StatementSync;
  readonly #add: StatementSync;
  readonly #update: StatementSync;

  constructor(db: DatabaseSync) {
    this.#find = db.prepare(`SELECT ${columns} FROM pairs WHERE project_id = ? AND lower = ? AND higher = ?`);
    this.#findByConnection = db.prepare(
      `SELECT ${columns} FROM pairs WHERE project_id = ? AND connection_id = ?`,
    );
    this.#blocked = db.prepare(
      `SELECT ${columns} FROM pairs WHERE (project_id, lower, higher) > (?, ?, ?) AND blocks <> '[]'
         ORDER BY project_id, lower, higher LIMIT ?`,
    );
    // Each half is a range of a key: that of `pairs_higher`, and the primary one.
    this.#declined = db.prepare(
      `SELECT * FROM (SELECT ${columns} FROM pairs
           WHERE project_id = :projectId AND higher = :userId AND lower > :after AND state = 'declined'
           ORDER BY lower LIMIT :limit)
         UNION ALL
         SELECT * FROM (SELECT ${columns} FROM pairs
           WHERE project_id = :projectId AND lower = :userId AND higher > :after AND state = 'declined'
           ORDER BY higher LIMIT :limit)
         LIMIT :limit`,
    );
    this.#insert = db.prepare(
      `INSERT INTO pairs (project_id, lower, higher, rev, seq, state) VALUES (?, ?, ?, 0, 0, 'none')
         ON CONFLICT DO NOTHING`,
    );
    this.#add = db.prepare(
      `INSERT INTO pairs (rev, seq, state, requester_id, receiver_id, connection_id, message, requested_at,
           responded_at, blocks, project_id, lower, higher) VALUES (?${', ?'.repeat(12)}) ON CONFLICT DO NOTHING`,
    );
    this.#update = db.prepare(
      `UPDATE pairs SET rev = ?, seq = ?, state = ?, requester_id = ?, receiver_id = ?, connection_id = ?,
           message = ?, requested_at = ?, responded_at = ?, blocks = ?
         WHERE project_id = ? AND lower = ? AND higher = ? AND rev = ?`,
    );
  }

  find(pair: Pick<Pair, 'projectId' | 'lower' | 'higher'>): Pair | null {
    return toPair(this.#find.get(pair.projectId, pair.lower, pair.higher));
  }

  findByConnection(projectId: string, connectionId: string): Pair | null {
    return toPair(this.#findByConnection.get(projectId, connectionId));
  }

  blocked(after: string, limit: number): Pair[] {
    const [projectId = '', lower = '', higher = ''] = after.split('|');
    return this.#blocked
      .all(projectId, lower, higher, limit)
      .map(toPair)
      .filter((pair) => pair !== null);
  }

  /** A user's pairs whose request was declined, by the other's id: first those below the user's own. */
  declined(of: { projectId: string; userId: string }, range: { after: string; limit: number }): Pair[] {
    return this.#declined
      .all({ ...of, ...range })
      .map(toPair)
      .filter((pair) => pair !== null);
  }

  /** Stores a pair over the one that was read; `false` when it has gone on since. Inside a transaction. */
  replace(before: Pair, after: Pair): boolean {
    const key = [before.projectId, before.lower, before.higher];
    if (before.rev === 0) this.#insert.run(...key);
    return this.#update.run(...valuesOf(after), ...key, before.rev).changes === 1;
  }

  /** Stores a new pair; `false` when there is one of the two, or another one has its connection's id. */
  add(pair: Pair): boolean {
    const { projectId, lower, higher } = pair;
    return this.#add.run(...valuesOf(pair), projectId, lower, higher).changes === 1;
  }
}

/** What a pair's row holds beside its key, in the order of the statements. */
function valuesOf(pair: Pair) {
  return [
    pair.rev,
    pair.seq,
    pair.state,
    pair.requesterId,
    pair.receiverId,
    pair.connectionId,
    pair.message,
    pair.requestedAt?.getTime() ?? null,
    pair.respondedAt?.getTime() ?? null,
    JSON.stringify(pair.blocks),
  ];
}

function toPair(found: unknown): Pair | null {
  if (!found) return null;
  const { requestedAt, respondedAt, blocks, ...rest } = found as Row;
  const stored = JSON.parse(blocks) as (Omit<Block, 'at'> & { at: string })[];
  return {
    ...rest,
    requestedAt: toDate(requestedAt),
    respondedAt: toDate(respondedAt),
    blocks: stored.map(({ at, ...block }) => ({ ...block, at: new Date(at) })),
  };
}

function toDate(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
