import type { DatabaseSync } from 'node:sqlite';
import type { Db, Document } from 'mongodb';

/** How a database runs a query. */
export interface Plan {
  /** Whether the query reads a range of the primary key that has both bounds, and sorts nothing. */
  isKeyRange: boolean;
  /** The steps that the database names. If the query reads no key range, the steps show why. */
  steps: readonly string[];
}

/** Asks SQLite how it runs a SELECT. */
export function planOfSelect(db: DatabaseSync, sql: string): Plan {
  const steps = db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => String(detail));
  // In a table with a rowid, the primary key is a separate index (`sqlite_autoindex_…`).
  const isSearched = steps.some((step) =>
    /^SEARCH \w+ USING (PRIMARY KEY|INDEX sqlite_autoindex_\w+_1) \(\w+>.* AND \w+<.*\)$/.test(step),
  );
  const isOther = steps.some((step) =>
    /^SCAN (?!json_each\b)|TEMP B-TREE|USING (COVERING )?INDEX (?!sqlite_autoindex_)/.test(step),
  );
  return { isKeyRange: isSearched && !isOther, steps };
}

/** Asks MongoDB, or FerretDB on PostgreSQL, how it runs a command. */
export async function planOfCommand(db: Db, command: Document): Promise<Plan> {
  // The driver adds these fields to a command. They are not part of the query.
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

/** The steps of a plan, at any depth. PostgreSQL's steps have a node type, and MongoDB's steps have a stage. */
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
  // Both bounds must be conditions of the index, and not of a filter after the index.
  const bounds = /object_id OPERATOR\(documentdb_core\.>=?\).*object_id OPERATOR\(documentdb_core\.<=?\)/;
  return (
    node['Node Type'] === 'Index Scan' &&
    node['Index Name'] === '_id_' &&
    bounds.test(node['Index Cond'] ?? '')
  );
}
