import type { Db } from 'mongodb';
import type { Owner } from '../collection.ts';
import type { ErasedStore } from './index.ts';

interface ErasedDocument extends Owner {
  _id: string;
  until: number;
}

/** Marks of erased users on MongoDB. */
export function mongoErased(db: Db): ErasedStore {
  const erased = db.collection<ErasedDocument>('erased');
  return {
    async mark(owner, until) {
      const { projectId, userId } = owner;
      // The mark comes from one consumer; a second one at the same time would write the same.
      await erased.replaceOne(
        { _id: `${projectId}|${userId}` },
        { projectId, userId, until },
        { upsert: true },
      );
    },
    async marked(now) {
      await erased.deleteMany({ until: { $lt: now } });
      const found = await erased.find().toArray();
      return found.map(({ projectId, userId }) => ({ projectId, userId }));
    },
  };
}
