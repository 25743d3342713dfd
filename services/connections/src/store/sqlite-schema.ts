import { sqliteEventsTable, sqliteMarks } from '@kith/service';

/** The schema, script by script; times are Unix times in ms. */
export const migrations: readonly string[] = [
  `CREATE TABLE pairs (
     project_id TEXT NOT NULL, lower TEXT NOT NULL, higher TEXT NOT NULL,
     rev INTEGER NOT NULL, seq INTEGER NOT NULL, state TEXT NOT NULL,
     requester_id TEXT, receiver_id TEXT, connection_id TEXT, message TEXT,
     requested_at INTEGER, responded_at INTEGER,
     PRIMARY KEY (project_id, lower, higher)) WITHOUT ROWID;
   CREATE UNIQUE INDEX pairs_connection ON pairs (connection_id) WHERE connection_id IS NOT NULL;
   CREATE TABLE edges (
     key TEXT PRIMARY KEY, connection_id TEXT NOT NULL, user_id TEXT NOT NULL, message TEXT,
     requested_at INTEGER NOT NULL, connected_at INTEGER) WITHOUT ROWID;
   CREATE TABLE heads (
     id TEXT PRIMARY KEY, established INTEGER NOT NULL, sent INTEGER NOT NULL, received INTEGER NOT NULL
   ) WITHOUT ROWID;
   CREATE TABLE profiles (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, user TEXT NOT NULL) WITHOUT ROWID;
   ${sqliteEventsTable}`,

  `ALTER TABLE pairs ADD COLUMN blocks TEXT NOT NULL DEFAULT '[]';
   ALTER TABLE edges RENAME COLUMN connection_id TO id;
   ALTER TABLE heads ADD COLUMN blocks INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE heads ADD COLUMN blockedBy INTEGER NOT NULL DEFAULT 0;
   -- A copy without the keys it is to have is asked of its owner again.
   DELETE FROM profiles;
   ALTER TABLE profiles ADD COLUMN usernameKey TEXT NOT NULL DEFAULT '';
   ALTER TABLE profiles ADD COLUMN nameKey TEXT NOT NULL DEFAULT '';
   CREATE TABLE ended_users (
     id TEXT PRIMARY KEY, ended_at INTEGER NOT NULL, erase_at INTEGER) WITHOUT ROWID;
   CREATE INDEX ended_users_erase ON ended_users (erase_at) WHERE erase_at IS NOT NULL;
   CREATE INDEX pairs_higher ON pairs (project_id, higher);`,

  // An id is of one connection of its project.
  `DROP INDEX pairs_connection;
   CREATE UNIQUE INDEX pairs_connection ON pairs (project_id, connection_id) WHERE connection_id IS NOT NULL;`,
  sqliteMarks,
];
