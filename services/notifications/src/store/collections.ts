import { endedUserCollection, profileCollection, userSettingsCollection } from '@kith/service';
import { collection, replyCollection, timeKey } from '@kith/store';
import type { Declared } from '@kith/store/open';
import { z } from 'zod';
import type { Entry, Feed } from '../feed.ts';
import { isKiths, nobody } from '../initiator.ts';
import { ownerOf, placed } from './place.ts';

/** An entry as it is stored. The other fields, which are the owner and the sequence, are in its key. */
export type StoredEntry = Omit<Entry, 'projectId' | 'userId' | 'seq'>;

const time = z.int();

/** The feeds, by `feedKey`. Every change of a user's notifications is a compare-and-set of the user's feed. */
export const feeds = collection<Feed>({
  name: 'feeds',
  kind: 'target',
  version: 1,
  schema: z.object({
    seq: z.int(),
    total: z.int(),
    unread: z.int(),
    expiredTo: z.int(),
    marks: z.array(z.object({ upTo: z.int(), at: time })),
    streams: z.array(z.string()),
  }),
});

/** The notifications, by `placeOf`. */
export const entries = collection<StoredEntry>({
  name: 'entries',
  kind: 'row',
  version: 1,
  schema: z.object({
    id: z.string(),
    type: z.custom<Entry['type']>(),
    action: z.string().nullish(),
    metadata: z.custom<Entry['metadata']>(),
    createdAt: time,
    keepUntil: time,
    readAt: time.nullable(),
  }),
  indexes: {
    id: { key: ({ id }, place) => `${ownerOf(place)}|${id}` },
    requestOf: {
      key: (entry, place) =>
        isKiths(entry) && entry.type === 'connection-request'
          ? `${ownerOf(place)}|${entry.metadata.connectionId}`
          : null,
    },
    keepUntil: { key: ({ keepUntil }) => timeKey(keepUntil) },
    initiator: {
      key: (entry, place) =>
        !isKiths(entry) || entry.metadata.initiatorId === nobody
          ? null
          : `${placed(place).projectId}|${entry.metadata.initiatorId}|`,
    },
  },
});

/**
 * The marks that prevent late events from making notifications. The key of a mark is the project and the id of a connection or
 * of a notification. For a connection, the mark says that the request was withdrawn, or that a block has ended the connection.
 * For a notification, it says that the notification was not made, because the user had turned off its type.
 */
export const withdrawn = collection<{ until: number }>({
  name: 'withdrawn',
  kind: 'copy',
  version: 1,
  schema: z.object({ until: time }),
  expires: ({ until }) => until,
});

/** The types of notifications that a user has turned off. */
export interface StoredSettings {
  /** Sorted. */
  off: string[];
}
export const settings = userSettingsCollection<StoredSettings>(z.object({ off: z.array(z.string()) }));

/** Everything that the notifications service stores. */
export const declared: Declared = {
  collections: [
    ...[feeds, entries, withdrawn, settings],
    ...[endedUserCollection, profileCollection, replyCollection],
  ],
};
