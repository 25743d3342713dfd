import { open } from 'node:fs/promises';
import { StartError } from '@kith/base/config';
import { rebuildConnectionsProfiles } from '@kith/contracts';
import { unreadable } from '../file-error.ts';
import type { PlatformAccess } from '../platform-access.ts';
import { type Batch, batches } from './batches.ts';
import { copyProfiles } from './copy-profiles.ts';
import { InOrder } from './in-order.ts';
import { type ImportKind, importPath } from './kinds.ts';
import { type Progress, ProgressFile } from './progress.ts';
import { readLines } from './read-lines.ts';
import { Pace, type SentRows } from './send.ts';

export interface ImportFileOptions {
  access: PlatformAccess;
  projectId: string;
  file: string;
  kind: ImportKind;
  restart: boolean;
  /** Called with the progress after each request. */
  onProgress(progress: Progress, size: number): void;
}

/** How many lines were read, and with what results. */
export interface Counts {
  lines: number;
  imported: number;
  unchanged: number;
  rejected: number;
}

/** The result of a file's import: in this run, and in all runs since the import began. */
export interface ImportedFile {
  run: Counts;
  inAll: Counts;
  /** The file that names the rejected lines of all runs; `null` if there are none. */
  rejectedFile: string | null;
}

/**
 * Imports a file, from the position where the last run stopped. A few requests are under way at the same time. All lines before
 * the recorded position are imported or rejected. So if the process dies, the next run repeats at most those few requests, and
 * repeating them changes nothing. After an import of users, the profiles of these users are copied to the service that searches
 * profiles.
 */
export async function importFile(options: ImportFileOptions): Promise<ImportedFile> {
  const { access, projectId, file, kind, restart, onProgress } = options;
  await using handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(file, error);
  });
  const stat = await handle.stat();
  if (stat.isDirectory()) throw unreadable(file, { code: 'EISDIR' });
  if (!stat.isFile()) throw new StartError(`${file} is not a regular file.`);
  const { size } = stat;
  const kept = await ProgressFile.open(file, { projectId, kind: kind.name, size, restart });
  const before = countsOf(kept.progress);
  const path = importPath(kind, projectId);
  const pace = new Pace();
  const inOrder = new InOrder({
    atOnce: () => pace.atOnce,
    send: async ({ rows }, signal) =>
      rows.length > 0 ? kind.send(rows, { access, path, file, pace, signal }) : nothingSent,
    async settle(batch, result) {
      await advance(kept, batch, result);
      onProgress(kept.progress, size);
    },
  });
  try {
    for await (const batch of batches(readLines(handle, kept.progress), kind)) await inOrder.add(batch);
    await inOrder.end();
    const { copiedLine, line } = kept.progress;
    if (kind.name === 'users' && copiedLine < line) {
      // Lists and searches of connections show the new users at once, so this copy is a part of the import.
      await copyProfiles(access, rebuildConnectionsProfiles, projectId);
      await kept.advance({ ...kept.progress, copiedLine: line }, []);
    }
    const inAll = countsOf(kept.progress);
    return { run: difference(inAll, before), inAll, rejectedFile: kept.rejectedFile };
  } finally {
    // After a failure, other requests may still be under way. Their answers are not recorded, so the next run sends their rows
    // again.
    await inOrder.end().catch(() => undefined);
    await kept.close();
  }
}

const nothingSent: SentRows = { imported: 0, unchanged: 0, rejected: [] };

const countsOf = ({ line: lines, imported, unchanged, rejected }: Progress): Counts => ({
  ...{ lines, imported, unchanged, rejected },
});

const difference = (all: Counts, before: Counts): Counts => ({
  lines: all.lines - before.lines,
  imported: all.imported - before.imported,
  unchanged: all.unchanged - before.unchanged,
  rejected: all.rejected - before.rejected,
});

async function advance(kept: ProgressFile, batch: Batch, result: SentRows): Promise<void> {
  const rejected = [
    ...batch.refused,
    ...result.rejected.map(({ row, ...why }) => ({ line: batch.lines[row] ?? 0, ...why })),
  ].sort((one, other) => one.line - other.line);
  const { progress } = kept;
  await kept.advance(
    {
      ...progress,
      ...batch.end,
      imported: progress.imported + result.imported,
      unchanged: progress.unchanged + result.unchanged,
      rejected: progress.rejected + rejected.length,
    },
    rejected,
  );
}
