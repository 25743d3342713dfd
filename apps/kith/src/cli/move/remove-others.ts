import { dirname } from 'node:path';
import { type BlobsConfig, openBlobs } from '@kith/store/blobs';

/** Removes the files in `to` that are not in `from`. Each file has a folder of its own. */
export async function removeOthers(from: BlobsConfig, to: BlobsConfig): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const open = async (place: BlobsConfig) => opened.adopt(await openBlobs(place), (one) => one.close());
  const target = await open(to);
  const others = new Set<string>();
  for await (const { key } of target.list()) others.add(dirname(key));
  if (others.size === 0) return;
  for await (const { key } of (await open(from)).list()) others.delete(dirname(key));
  for (const folder of others) await target.removeAll(`${folder}/`);
}
