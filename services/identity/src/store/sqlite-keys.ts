import type { DatabaseSync } from 'node:sqlite';
import type { KeyStore, SigningKey } from './keys.ts';

/** Keys have a time from which they sign, instead of a state. */
export const keysMigration = `
  ALTER TABLE keys ADD COLUMN signsFrom INTEGER NOT NULL DEFAULT 0;
  UPDATE keys SET signsFrom = createdAt;
  ALTER TABLE keys DROP COLUMN state;`;

/** Revoked keys are remembered by their ids. */
export const revokedKeysMigration =
  'CREATE TABLE revoked_keys (kid TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;';

interface KeyRow extends Omit<SigningKey, 'privateJwk' | 'signsFrom' | 'createdAt'> {
  privateJwk: string;
  signsFrom: number;
  createdAt: number;
}

/** Keys on SQLite. */
export function sqliteKeys(db: DatabaseSync): KeyStore {
  const insert = db.prepare(
    `INSERT INTO keys (ordinal, kid, privateJwk, signsFrom, createdAt) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (ordinal) DO NOTHING`,
  );
  const select = db.prepare(
    'SELECT ordinal, kid, privateJwk, signsFrom, createdAt FROM keys ORDER BY ordinal DESC',
  );
  const remove = db.prepare('DELETE FROM keys WHERE ordinal = ? AND kid = ?');
  const replace = db.prepare(
    'UPDATE keys SET kid = ?, privateJwk = ?, signsFrom = ?, createdAt = ? WHERE ordinal = ? AND kid = ?',
  );
  const revoke = db.prepare('INSERT INTO revoked_keys (kid, at) VALUES (?, ?) ON CONFLICT (kid) DO NOTHING');
  const selectRevoked = db.prepare('SELECT kid FROM revoked_keys');
  return {
    async add({ ordinal, kid, privateJwk, signsFrom, createdAt }) {
      insert.run(ordinal, kid, JSON.stringify(privateJwk), signsFrom.getTime(), createdAt.getTime());
    },
    async list() {
      const rows = select.all() as unknown as KeyRow[];
      return rows.map((row) => ({
        ...row,
        privateJwk: JSON.parse(row.privateJwk),
        signsFrom: new Date(row.signsFrom),
        createdAt: new Date(row.createdAt),
      }));
    },
    async remove({ ordinal, kid }) {
      remove.run(ordinal, kid);
    },
    async replace(kid, key) {
      const { ordinal, privateJwk, signsFrom, createdAt } = key;
      const text = JSON.stringify(privateJwk);
      replace.run(key.kid, text, signsFrom.getTime(), createdAt.getTime(), ordinal, kid);
    },
    async revoke(kid, at) {
      revoke.run(kid, at.getTime());
    },
    async revoked() {
      return (selectRevoked.all() as { kid: string }[]).map(({ kid }) => kid);
    },
  };
}
