import type { ServiceBackup } from '@kith/store/backup';
import { blobKey } from './file.ts';
import { accounts, declared, files, type StoredFileRow, usage } from './store/collections.ts';
import { accountId, accountOwner, fileRange, placedFile, usageId } from './store/place.ts';

/** The data of the storage service in a backup. */
export const storageBackup: ServiceBackup = {
  service: 'storage',
  declared,
  follows: [{ rows: files, target: accounts, of: ({ id }) => fileRange(accountOwner(id)) }],
  counted: [
    {
      rows: files,
      counters: usage,
      add: ({ id, doc }) => ({ id: usageId(placedFile(id).projectId), add: { files: 1, bytes: doc.bytes } }),
    },
  ],
  bytes: {
    rows: files,
    of({ id: rowId, doc }) {
      const stored = { ...placedFile(rowId), bytesId: doc.bytesId };
      const variants = Object.entries((doc as StoredFileRow).image?.variants ?? {});
      const file = { fileId: stored.id, projectId: stored.projectId, userId: stored.userId };
      return [
        { file, rowId, key: blobKey(stored), size: doc.original.size },
        ...variants.map(([name, { size }]) => ({ file, rowId, key: blobKey(stored, name), size })),
      ];
    },
  },
  standing: ({ projectId, aggregate }, copied) => ({
    seq: copied.find(accounts, accountId({ projectId, userId: aggregate.id }))?.seq,
  }),
  // An anonymised backup contains no files, because the contents of files are personal.
  anonymous: {
    accounts: () => null,
    files: () => null,
    claims: () => null,
    erased: (stored, made) => made.mapped(stored),
  },
};
