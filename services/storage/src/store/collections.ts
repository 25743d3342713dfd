import type { ImageFormat } from '@kith/contracts';
import { erasedUserCollection } from '@kith/service';
import { type Collection, type Counters, collection, counters, replyCollection, timeKey } from '@kith/store';
import type { Declared } from '@kith/store/open';
import { z } from 'zod';
import type { FileRecord } from '../file.ts';
import { placedFile } from './place.ts';

/** The note of bytes that may be stored without a file: of an upload in progress, or of a deleted file. */
export interface Loose {
  fileId: string;
  /** When to remove the bytes, Unix ms. */
  due: number;
  /** Set when nobody may make a file of the bytes any more. */
  isDead?: true | undefined;
}

/** The account of a user: how much the user has stored. Every change of the user's files is decided on this document. */
export interface StoredAccount {
  files: number;
  bytes: number;
  /** `seq` of the last event. */
  seq: number;
  /** Unix ms. */
  lastAt: number;
  loose: Loose[];
}

/** A file as it is stored. The other fields are in its place. */
export type StoredFileRow = Omit<FileRecord, 'id' | 'projectId' | 'userId' | 'createdAt'>;

const whole = z.int().nonnegative();
const formats = ['jpeg', 'png', 'webp', 'gif', 'avif'] as const satisfies readonly ImageFormat[];
const bytes = { size: whole, digest: z.string() };

/** Users' accounts, by `<project>|<user>`. */
export const accounts: Collection<StoredAccount> = collection<StoredAccount>({
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
  indexes: {
    due: {
      key: ({ loose }, id) =>
        loose.length === 0 ? null : `${timeKey(Math.min(...loose.map(({ due }) => due)))}|${id}`,
    },
  },
});

/** Files, by `filePlace`. */
export const files: Collection<StoredFileRow> = collection<StoredFileRow>({
  name: 'files',
  kind: 'row',
  version: 1,
  schema: z.object({
    bytesId: z.string().optional(),
    original: z.object(bytes),
    bytes: whole,
    contentType: z.string(),
    name: z.string(),
    image: z
      .object({
        format: z.enum(formats),
        quality: whole,
        width: whole,
        height: whole,
        variants: z.record(z.string(), z.object({ ...bytes, width: whole, height: whole })),
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

/** How much is stored in each project, by `usageId`. */
export const usage: Counters<'files' | 'bytes'> = counters({ name: 'usage', fields: ['files', 'bytes'] });

/** Everything that storage stores beside the bytes. */
export const declared: Declared = {
  collections: [accounts, files, erasedUserCollection, replyCollection],
  counters: [usage],
};
