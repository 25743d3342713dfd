import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningService, ServiceRuntime } from '@kith/service';
import { startStorage } from '@kith/storage';
import type { StoreConfig } from '@kith/store';

/**
 * Starts the storage service in this process, without its HTTP port for bytes. Its files are in a folder, which is removed when
 * the service is disposed.
 */
export async function startStorageHere(runtime: ServiceRuntime, store: StoreConfig): Promise<RunningService> {
  await using undo = new AsyncDisposableStack();
  const { path: folder } = undo.use(await mkdtempDisposable(join(tmpdir(), 'kith-storage-')));
  const service = undo.use(
    await startStorage(runtime, {
      ...{ store, http: undefined, draftFolder: join(folder, 'drafts') },
      blobs: { kind: 'folder', folder: join(folder, 'files') },
      quotas: { projectBytes: 0, userBytes: 0 },
    }),
  );
  const kept = undo.move();
  return { ...service, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
