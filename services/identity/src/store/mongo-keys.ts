import { isMongoDuplicate } from '@kith/service';
import type { Db } from 'mongodb';
import type { KeyStore, SigningKey } from './keys.ts';

interface KeyDocument extends Omit<SigningKey, 'ordinal' | 'privateJwk'> {
  _id: number;
  privateJwk: string;
}

interface RevokedDocument {
  /** The key's `kid`. */
  _id: string;
  at: Date;
}

/** Keys on MongoDB. */
export function mongoKeys(db: Db): KeyStore {
  const keys = db.collection<KeyDocument>('keys');
  const revoked = db.collection<RevokedDocument>('revokedKeys');
  return {
    async add(key) {
      try {
        await keys.insertOne(documentOf(key));
      } catch (error) {
        if (!isMongoDuplicate(error)) throw error;
      }
    },
    async list() {
      const found = await keys.find({}, { sort: { _id: -1 } }).toArray();
      return found.map(({ _id, kid, privateJwk, signsFrom, createdAt }) => ({
        ordinal: _id,
        kid,
        privateJwk: JSON.parse(privateJwk),
        // A key of a version without this field signs since it was made.
        signsFrom: signsFrom ?? createdAt,
        createdAt,
      }));
    },
    async remove({ ordinal, kid }) {
      await keys.deleteOne({ _id: ordinal, kid });
    },
    async replace(kid, key) {
      await keys.replaceOne({ _id: key.ordinal, kid }, documentOf(key));
    },
    async revoke(kid, at) {
      await revoked.updateOne({ _id: kid }, { $setOnInsert: { at } }, { upsert: true });
    },
    async revoked() {
      return (await revoked.find({}).toArray()).map(({ _id }) => _id);
    },
  };
}

function documentOf({ ordinal, privateJwk, ...key }: SigningKey): KeyDocument {
  return { _id: ordinal, privateJwk: JSON.stringify(privateJwk), ...key };
}
