import { sqliteEventsTable, sqliteForgottenProfiles, sqliteMarks, sqliteProfilesTable } from '@kith/service';

/** Whom an entry tells of; an index finds entries by it, so that queries have to say it the same way. */
export const initiatorColumn = "json_extract(entry, '$.metadata.initiatorId')";

/** The schema, step by step. */
export const migrations = [
  `CREATE TABLE feeds (id TEXT PRIMARY KEY, rev INTEGER NOT NULL, feed TEXT NOT NULL) WITHOUT ROWID;
   CREATE TABLE entries (
     place TEXT PRIMARY KEY, project_id TEXT NOT NULL, user_id TEXT NOT NULL, id TEXT NOT NULL, request_of TEXT,
     keep_until INTEGER NOT NULL, entry TEXT NOT NULL) WITHOUT ROWID;
   CREATE INDEX entries_id ON entries (id);
   CREATE INDEX entries_request_of ON entries (request_of) WHERE request_of IS NOT NULL;
   CREATE INDEX entries_keep_until ON entries (keep_until);
   CREATE TABLE withdrawn (id TEXT PRIMARY KEY, expire_at INTEGER NOT NULL) WITHOUT ROWID;
   ${sqliteProfilesTable}
   ${sqliteEventsTable}`,
  `CREATE INDEX entries_initiator ON entries (project_id, ${initiatorColumn});
   CREATE TABLE ended_users (
     id TEXT PRIMARY KEY, ended_at INTEGER NOT NULL, look_at INTEGER NOT NULL) WITHOUT ROWID;
   ${sqliteForgottenProfiles}`,
  sqliteMarks,
];
