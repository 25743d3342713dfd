import { isMongoDuplicate } from '@kith/service';
import type { Db } from 'mongodb';
import type { KeyStore, SigningKey } from './keys.ts';

interface KeyDocument extends Omit<SigningKey, 'ordinal' | 'privateJwk'> {
  _id: number;
  privateJwk: string;
}

/** Keys on MongoDB. */
export function mongoKeys(db: Db): KeyStore {
  const keys = db.collection<KeyDocument>('keys');
  return {
    async add({ ordinal, privateJwk, ...key }) {
      try {
        await keys.insertOne({ _id: ordinal, privateJwk: JSON.stringify(privateJwk), ...key });
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
    async remove(ordinal) {
      await keys.deleteOne({ _id: ordinal });
    },
  };
}
