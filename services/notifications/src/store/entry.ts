import type { Stored } from '@kith/store';
import type { Entry } from '../feed.ts';
import type { StoredEntry } from './collections.ts';
import { placed } from './place.ts';

/** The entry that a stored row is. */
export function entryOf({ id, doc }: Stored<StoredEntry>): Entry {
  return { ...placed(id), ...doc };
}

/** What is stored of an entry. */
export function storedOf({ projectId, userId, seq, ...doc }: Entry): StoredEntry {
  return doc;
}
