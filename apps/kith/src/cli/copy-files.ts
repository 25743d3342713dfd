import { type BlobEntry, type BlobsConfig, copyBlobs, openBlobs } from '@kith/store/blobs';

/**
 * Copies the bytes of the files in `list` from one place to another. Without a list, copies the bytes of all files. If a call
 * was interrupted, the next call continues where the interrupted call has stopped.
 */
export async function copyFiles(
  from: BlobsConfig,
  to: BlobsConfig,
  progress: (line: string) => void,
  list?: AsyncIterable<BlobEntry>,
): Promise<void> {
  const source = await openBlobs(from, { readOnly: true });
  try {
    const target = await openBlobs(to);
    try {
      const listed = { list: () => list ?? source.list(), read: (key: string) => source.read(key) };
      const count = await copyBlobs(listed, target, (done) => {
        if (done % 1_000 === 0) progress(`files: ${done}`);
      });
      if (count > 0) progress(`files: ${count}`);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}
