import { sqliteEventsTable, sqliteMarks } from '@kith/service';
import { accountsMigration } from './sqlite-accounts.ts';
import { blocksMigration } from './sqlite-blocks.ts';
import { endedMigration } from './sqlite-erasure.ts';
import { importsMigration } from './sqlite-imports.ts';
import { keysMigration, revokedKeysMigration } from './sqlite-keys.ts';
import { sessionsMigration } from './sqlite-sessions.ts';

/** The n-th script brings the schema from version n-1 to n. Columns are named as the fields; times are Unix ms. */
export const migrations: readonly string[] = [
  `CREATE TABLE projects (
     id TEXT PRIMARY KEY, name TEXT NOT NULL, createdAt INTEGER NOT NULL, updatedAt INTEGER NOT NULL
   ) WITHOUT ROWID;

   CREATE TABLE users (
     projectId TEXT NOT NULL, id TEXT NOT NULL, foreignId TEXT, email TEXT, passwordHash TEXT, role TEXT NOT NULL,
     username TEXT, usernameKey TEXT GENERATED ALWAYS AS (lower(username)) VIRTUAL,
     name TEXT, avatar TEXT, bio TEXT, location TEXT, birthdate TEXT, metadata TEXT NOT NULL,
     bannerFileId TEXT, avatarFileId TEXT, reputation REAL NOT NULL,
     isVerified INTEGER NOT NULL, isActive INTEGER NOT NULL,
     lastActive INTEGER, createdAt INTEGER NOT NULL, updatedAt INTEGER NOT NULL,
     rev INTEGER NOT NULL, seq INTEGER NOT NULL,
     PRIMARY KEY (projectId, id));
   CREATE UNIQUE INDEX users_email ON users (projectId, email) WHERE email IS NOT NULL;
   CREATE UNIQUE INDEX users_username ON users (projectId, usernameKey) WHERE usernameKey IS NOT NULL;

   CREATE TABLE sessions (
     projectId TEXT NOT NULL, userId TEXT NOT NULL, sid TEXT NOT NULL, tokenHash TEXT NOT NULL UNIQUE,
     createdAt INTEGER NOT NULL, lastUsedAt INTEGER NOT NULL, expiresAt INTEGER NOT NULL,
     userAgent TEXT, ip TEXT NOT NULL,
     PRIMARY KEY (projectId, userId, sid)) WITHOUT ROWID;
   CREATE INDEX sessions_expire ON sessions (expiresAt);

   CREATE TABLE keys (
     ordinal INTEGER PRIMARY KEY, kid TEXT NOT NULL, privateJwk TEXT NOT NULL, state TEXT NOT NULL,
     createdAt INTEGER NOT NULL);
   ${sqliteEventsTable}`,

  `ALTER TABLE projects ADD COLUMN publicKey TEXT;
   ALTER TABLE projects ADD COLUMN limits TEXT NOT NULL DEFAULT '{}';
   ALTER TABLE projects ADD COLUMN webOrigins TEXT NOT NULL DEFAULT '[]';
   ALTER TABLE projects ADD COLUMN publicProfiles INTEGER NOT NULL DEFAULT 1;
   ALTER TABLE projects ADD COLUMN publicConnections INTEGER NOT NULL DEFAULT 1;
   ALTER TABLE projects ADD COLUMN place TEXT AS (printf('%013d|%s', 9999999999999 - createdAt, id)) VIRTUAL;
   CREATE INDEX projects_place ON projects (place);`,

  `ALTER TABLE users ADD COLUMN nameKey TEXT NOT NULL DEFAULT '';
   ALTER TABLE users ADD COLUMN place TEXT AS (printf('%013d|%s', 9999999999999 - createdAt, id)) VIRTUAL;
   CREATE UNIQUE INDEX users_foreign_id ON users (projectId, foreignId) WHERE foreignId IS NOT NULL;
   CREATE INDEX users_name ON users (projectId, nameKey);
   CREATE INDEX users_place ON users (projectId, place);

   CREATE TABLE deleted_users (
     projectId TEXT NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL, deletedAt INTEGER NOT NULL,
     PRIMARY KEY (projectId, id)) WITHOUT ROWID;
   CREATE INDEX deleted_users_at ON deleted_users (deletedAt);`,

  sessionsMigration + accountsMigration + keysMigration,

  blocksMigration,

  'CREATE INDEX users_id ON users (id);',

  `CREATE INDEX projects_with_settings ON projects (id)
     WHERE limits <> '{}' OR webOrigins <> '[]' OR publicProfiles = 0 OR publicConnections = 0;`,

  importsMigration,

  endedMigration,

  sqliteMarks,

  revokedKeysMigration,
];
