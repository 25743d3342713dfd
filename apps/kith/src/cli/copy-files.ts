import type { RecordedBlob } from '@kith/store/backup';
import { type BlobFaults, type BlobsConfig, copyBlobs, openBlobs } from '@kith/store/blobs';

/**
 * Copies the bytes of the files in `recorded` from one place to another, and reports damaged and missing bytes to `faults`.
 * Without `recorded`, copies the bytes of all files. If a call was interrupted, the next call continues where the interrupted
 * call has stopped.
 */
export async function copyFiles(
  from: BlobsConfig,
  to: BlobsConfig,
  progress: (line: string) => void,
  recorded?: { list: AsyncIterable<RecordedBlob>; faults: BlobFaults<RecordedBlob> },
): Promise<void> {
  const source = await openBlobs(from, { readOnly: true });
  try {
    const target = await openBlobs(to);
    try {
      const told = (done: number) => {
        if (done % 1_000 === 0) progress(`files: ${done}`);
      };
      const read = (key: string) => source.read(key);
      const count = recorded
        ? await copyBlobs({ list: () => recorded.list, read }, target, {
            progress: told,
            faults: recorded.faults,
          })
        : await copyBlobs(source, target, { progress: told });
      if (count > 0) progress(`files: ${count}`);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}
