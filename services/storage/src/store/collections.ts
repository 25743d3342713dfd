import type { ImageFormat } from '@kith/contracts';
import { erasedUserCollection } from '@kith/service';
import { type Collection, type Counters, collection, counters, replyCollection, timeKey } from '@kith/store';
import type { Declared } from '@kith/store/open';
import { z } from 'zod';
import type { FileRecord } from '../file.ts';
import { placedFile } from './place.ts';

/** Bytes that may lie in the store without a file: of an upload on its way, or of a file that was deleted. */
export interface Loose {
  fileId: string;
  /** When they are to be removed, Unix ms. */
  due: number;
  /** Nobody may make a file of them any more. */
  isDead?: true | undefined;
}

/** All that one user has stored. Every change of the user's files is decided here. */
export interface StoredAccount {
  files: number;
  bytes: number;
  /** `seq` of the last event. */
  seq: number;
  /** Unix ms. */
  lastAt: number;
  loose: Loose[];
}

/** A file as it is stored; the rest is in its place. */
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

/** What is stored of a project, by `usageId`. */
export const usage: Counters<'files' | 'bytes'> = counters({ name: 'usage', fields: ['files', 'bytes'] });

/** All that storage stores beside the bytes. */
export const declared: Declared = {
  collections: [accounts, files, erasedUserCollection, replyCollection],
  counters: [usage],
};
