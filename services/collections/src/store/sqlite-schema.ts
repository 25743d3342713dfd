import { sqliteEventsTable, sqliteMarks } from '@kith/service';

/** The schema's versions, in order. */
export const migrations = [
  `CREATE TABLE collections (
     place TEXT PRIMARY KEY, project_id TEXT NOT NULL, user_id TEXT NOT NULL, id TEXT NOT NULL, parent_id TEXT,
     ancestors TEXT NOT NULL, name TEXT NOT NULL, entity_count INTEGER NOT NULL, created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL, rev INTEGER NOT NULL, seq INTEGER NOT NULL) WITHOUT ROWID;
   CREATE UNIQUE INDEX collections_id ON collections (project_id, user_id, id);
   ${sqliteEventsTable}`,
  // purge_depth: set once it is deleted, by itself or with one above it, to its depth.
  `ALTER TABLE collections ADD COLUMN purge_depth INTEGER;
   CREATE INDEX collections_purge ON collections (purge_depth) WHERE purge_depth IS NOT NULL;
   CREATE INDEX collections_parent ON collections (parent_id);
   CREATE TABLE entities (
     place TEXT PRIMARY KEY, saved TEXT NOT NULL, collection_id TEXT NOT NULL, entity_id TEXT NOT NULL,
     added_at INTEGER NOT NULL, metadata TEXT NOT NULL) WITHOUT ROWID;
   CREATE UNIQUE INDEX entities_saved ON entities (saved, collection_id);`,
  `CREATE TABLE erased (
     project_id TEXT NOT NULL, user_id TEXT NOT NULL, until INTEGER NOT NULL,
     PRIMARY KEY (project_id, user_id)) WITHOUT ROWID;`,
  sqliteMarks,
];
