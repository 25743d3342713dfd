import type { Stored } from '@kith/store';
import type { Entry } from '../feed.ts';
import type { StoredEntry } from './collections.ts';
import { placed } from './place.ts';

/** Makes an entry from its stored row. */
export function entryOf({ id, doc }: Stored<StoredEntry>): Entry {
  return { ...placed(id), ...doc };
}

/** Makes the row to store for an entry. */
export function storedOf({ projectId, userId, seq, ...doc }: Entry): StoredEntry {
  return doc;
}
