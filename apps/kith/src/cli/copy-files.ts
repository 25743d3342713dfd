import { type BlobsConfig, copyBlobs, openBlobs } from '@kith/store/blobs';

/** Copies the bytes of files from one place to another. If a call stopped halfway, the next call continues from there. */
export async function copyFiles(
  from: BlobsConfig,
  to: BlobsConfig,
  progress: (line: string) => void,
): Promise<void> {
  const source = await openBlobs(from);
  try {
    const target = await openBlobs(to);
    try {
      const count = await copyBlobs(source, target, (done) => {
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

/** Removes the bytes of files that one place had and another one lacks from a third place. */
export async function removeFiles(of: {
  before: BlobsConfig;
  now: BlobsConfig;
  from: BlobsConfig;
}): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const open = async (config: BlobsConfig) => opened.adopt(await openBlobs(config), (blobs) => blobs.close());
  const [before, now, from] = [await open(of.before), await open(of.now), await open(of.from)];
  const kept = new Set<string>();
  for await (const { key } of now.list()) kept.add(key);
  for await (const { key } of before.list()) {
    // A key ends with the name of one rendering. All that is stored of a file goes together.
    if (!kept.has(key)) await from.removeAll(key.slice(0, key.lastIndexOf('/') + 1));
  }
}
