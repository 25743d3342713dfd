import type { ImageFormat } from '@kith/contracts';
import { erasedUserCollection } from '@kith/service';
import { type Counters, collection, counters, replyCollection, timeKey } from '@kith/store';
import type { Declared } from '@kith/store/open';
import { z } from 'zod';
import type { FileRecord } from '../file.ts';
import { claimKey, placedFile } from './place.ts';

/** A note of bytes that may be stored without a file. The bytes belong to an upload in progress, or to a deleted file. */
export interface Loose {
  fileId: string;
  /** When to remove the bytes, Unix ms. */
  due: number;
  /** Set when the bytes must not become a file any more. */
  isDead?: true | undefined;
}

/** A user's account: how much the user has stored. Every change of the user's files also changes this document. */
export interface StoredAccount {
  files: number;
  bytes: number;
  /** The `seq` of the last event about the user's files. */
  seq: number;
  /** When the user's newest file was stored, in Unix ms. This value does not change when the file is deleted. */
  lastAt: number;
  loose: Loose[];
}

/** A file as it is stored. The fields that are left out here are in the row's key (`filePlace`). */
export type StoredFileRow = Omit<FileRecord, 'id' | 'projectId' | 'userId' | 'createdAt'>;

const whole = z.int().nonnegative();
const formats = ['jpeg', 'png', 'webp', 'gif', 'avif'] as const satisfies readonly ImageFormat[];

/**
 * The index key of an account with notes of bytes: the earliest time at which such bytes have to be removed, and the account's
 * id.
 */
export function dueKey({ loose }: StoredAccount, id: string): string | null {
  return loose.length === 0 ? null : `${timeKey(Math.min(...loose.map(({ due }) => due)))}|${id}`;
}

/** The accounts of users. Their keys are `<project>|<user>`. */
export const accounts = collection<StoredAccount>({
  name: 'accounts',
  kind: 'target',
  version: 1,
  schema: z.object({
    files: whole,
    bytes: whole,
    seq: whole,
    lastAt: whole,
    loose: z.array(z.object({ fileId: z.string(), due: whole, isDead: z.literal(true).optional() })),
  }),
  indexes: { due: { key: dueKey } },
});

/** The files. `filePlace` makes their keys. */
export const files = collection<StoredFileRow>({
  name: 'files',
  kind: 'row',
  version: 1,
  schema: z.object({
    bytesId: z.string().optional(),
    original: z.object({ size: whole }),
    bytes: whole,
    contentType: z.string(),
    name: z.string(),
    image: z
      .object({
        format: z.enum(formats),
        quality: whole,
        width: whole,
        height: whole,
        variants: z.record(z.string(), z.object({ size: whole, width: whole, height: whole })),
      })
      .optional(),
  }),
  indexes: {
    id: {
      key: (_, place) => {
        const { projectId, id } = placedFile(place);
        return `${projectId}|${id}`;
      },
    },
  },
});

/** A claim on the id of an imported file, until `until` (Unix ms). */
export interface StoredClaim {
  userId: string;
  until: number;
}

/**
 * Each claim says which user may use the id of an imported file while the file is being stored. The key is `<project>|<file>`.
 * These ids come from another backend, so two imports at the same time may give files of two users the same id. The users'
 * accounts cannot prevent this, because the account of one user does not contain the files of the other.
 */
export const claims = collection<StoredClaim>({
  name: 'claims',
  kind: 'target',
  silent: true,
  version: 1,
  schema: z.object({ userId: z.string(), until: whole }),
  indexes: { user: { key: ({ userId }, id) => claimKey(id, userId) } },
  expires: ({ until }) => until,
});

/** How much is stored in each project. `usageId` makes the keys. */
export const usage: Counters<'files' | 'bytes'> = counters({ name: 'usage', fields: ['files', 'bytes'] });

/** Everything that the storage service stores, except the bytes. */
export const declared: Declared = {
  collections: [accounts, files, claims, erasedUserCollection, replyCollection],
  counters: [usage],
};
