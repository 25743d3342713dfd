import { dirname } from 'node:path';
import { type BlobsConfig, isEmpty, openBlobs } from '@kith/store/blobs';

/** Removes the files in `to` that are not in `from`. Each file has a folder of its own. */
export async function removeOthers(from: BlobsConfig, to: BlobsConfig): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const source = opened.adopt(await openBlobs(from, { readOnly: true }), (one) => one.close());
  const target = opened.adopt(await openBlobs(to), (one) => one.close());
  for await (const { key } of target.list()) {
    // Looks up one folder at a time, because a list of all files may need more memory than there is.
    const folder = `${dirname(key)}/`;
    if (await isEmpty(source, folder)) await target.removeAll(folder);
  }
}
