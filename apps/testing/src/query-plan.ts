import type { DatabaseSync } from 'node:sqlite';
import type { Db, Document } from 'mongodb';

/** How a database goes about a question. */
export interface Plan {
  /** Whether it walks along the primary key, from one bound to the other, and sorts nothing. */
  isKeyRange: boolean;
  /** What the database says of it, for who wants to know why not. */
  steps: readonly string[];
}

/** Asks SQLite how it goes about a SELECT. */
export function planOfSelect(db: DatabaseSync, sql: string): Plan {
  const steps = db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => String(detail));
  // The key of a table with a rowid is an index of its own.
  const isSearched = steps.some((step) =>
    /^SEARCH \w+ USING (PRIMARY KEY|INDEX sqlite_autoindex_\w+_1) \(\w+>.* AND \w+<.*\)$/.test(step),
  );
  const isOther = steps.some((step) =>
    /^SCAN (?!json_each\b)|TEMP B-TREE|USING (COVERING )?INDEX (?!sqlite_autoindex_)/.test(step),
  );
  return { isKeyRange: isSearched && !isOther, steps };
}

/** Asks MongoDB, or FerretDB on PostgreSQL, how it goes about a command. */
export async function planOfCommand(db: Db, command: Document): Promise<Plan> {
  // What the driver adds to a command is no part of the question.
  const { lsid: _, $db: _db, $clusterTime: _time, ...asked } = command;
  const nodes = nodesOf(await db.command({ explain: asked, verbosity: 'queryPlanner' }));
  const steps = nodes.map((node) =>
    [node['Node Type'] ?? node.stage, node['Index Name'] ?? node.indexName, node['Index Cond'] ?? '']
      .filter(Boolean)
      .join(' '),
  );
  const isSearched = nodes.some(isKeyRange);
  const isOther = steps.some((step) => /^(Sort|Incremental Sort|Seq Scan|Bitmap|SORT|COLLSCAN)/.test(step));
  return { isKeyRange: isSearched && !isOther, steps };
}

/** The steps of a plan, wherever they stand: PostgreSQL's have a node type, MongoDB's a stage. */
function nodesOf(value: unknown): Document[] {
  if (Array.isArray(value)) return value.flatMap(nodesOf);
  if (typeof value !== 'object' || value === null) return [];
  const own = 'Node Type' in value || 'stage' in value ? [value as Document] : [];
  return [...own, ...Object.values(value).flatMap(nodesOf)];
}

function isKeyRange(node: Document): boolean {
  if (/^(IXSCAN|EXPRESS_IXSCAN|CLUSTERED_IXSCAN)$/.test(node.stage ?? '')) {
    return node.indexName === '_id_' || node.stage === 'CLUSTERED_IXSCAN';
  }
  // Both bounds are conditions of the index, and not of a filter behind it.
  const bounds = /object_id OPERATOR\(documentdb_core\.>=?\).*object_id OPERATOR\(documentdb_core\.<=?\)/;
  return (
    node['Node Type'] === 'Index Scan' &&
    node['Index Name'] === '_id_' &&
    bounds.test(node['Index Cond'] ?? '')
  );
}
