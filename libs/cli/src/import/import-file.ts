import { open } from 'node:fs/promises';
import type { ImportResult } from '@kith/contracts';
import { StartError } from '@kith/service';
import type { PlatformAccess } from '../platform-access.ts';
import { type Batch, batches } from './batches.ts';
import { copyProfiles } from './copy-profiles.ts';
import { type ImportKind, importPath } from './kinds.ts';
import { type Progress, ProgressFile } from './progress.ts';
import { readLines } from './read-lines.ts';
import { sendRows } from './send.ts';

export interface ImportFileOptions {
  access: PlatformAccess;
  projectId: string;
  file: string;
  kind: ImportKind;
  restart: boolean;
  /** Told after each request. */
  onProgress(progress: Progress, size: number): void;
}

/**
 * Imports a file, from where it stopped the last time. A few requests are under way at once; what is kept is how far all
 * before it is done, so that a process that dies repeats at most those few, and that changes nothing. After users their
 * profiles are copied to where they are looked for.
 */
export async function importFile(options: ImportFileOptions): Promise<Progress> {
  const { access, projectId, file, kind, restart, onProgress } = options;
  await using handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    throw new StartError(`${file} can not be read (${error.code}).`);
  });
  const { size } = await handle.stat();
  const kept = await ProgressFile.open(file, { projectId, kind: kind.name, size, restart });
  const path = importPath(kind, projectId);
  const underWay: { batch: Batch; result: Promise<ImportResult> }[] = [];
  const settleFirst = async () => {
    const first = underWay.shift();
    if (!first) return;
    await advance(kept, first.batch, await first.result);
    onProgress(kept.progress, size);
  };
  try {
    for await (const batch of batches(readLines(handle, kept.progress), kind.row)) {
      const result =
        batch.rows.length > 0
          ? sendRows(access, path, batch.rows)
          : Promise.resolve({ imported: 0, unchanged: 0, rejected: [] });
      // Awaited in its turn; a failure before that is not to end the process.
      result.catch(() => undefined);
      underWay.push({ batch, result });
      if (underWay.length >= kind.atOnce) await settleFirst();
    }
    while (underWay.length > 0) await settleFirst();
    const { copiedLine, line } = kept.progress;
    if (kind.name === 'users' && copiedLine < line) {
      await copyProfiles(access, projectId);
      await kept.advance({ ...kept.progress, copiedLine: line }, []);
    }
    return kept.progress;
  } finally {
    await kept.close();
  }
}

async function advance(kept: ProgressFile, batch: Batch, result: ImportResult): Promise<void> {
  const rejected = [
    ...batch.refused,
    ...result.rejected.map(({ row, reason }) => ({ line: batch.lines[row] ?? 0, reason })),
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
