import { createLogger, readConfig, StartError } from '@kith/base';
import { isCopy, readManifest } from '../../forms/backup-manifest.ts';
import { platformConfig } from '../../forms/config.ts';
import { openDataFolder } from '../../forms/data-folder.ts';
import { filesAt, filesIn } from '../../forms/files-of.ts';
import { serviceMoves } from '../../services.ts';
import { type Given, type Result, type Surroundings, textOf } from '../command.ts';
import { copyFiles } from '../copy-files.ts';
import { tableOfCounts } from '../counts.ts';
import { resolvePath } from '../data-folder.ts';
import { withSecretsRead } from '../secrets-read.ts';
import { moveConfig } from './config.ts';
import { moveData } from './move.ts';
import { untilQuiet } from './quiet.ts';
import { removeOthers } from './remove-others.ts';
import { checkFolder, Source } from './source.ts';
import { isBegun, isHandedOver, readState } from './state.ts';
import { Target } from './target.ts';

/**
 * Carries out `kith move`. The command's definition is in another file, so that other commands do not load the code that this
 * file imports.
 */
export async function runMove(given: Given, { progress, ...around }: Surroundings): Promise<Result> {
  const env = withSecretsRead(around.env);
  const { MONGODB_URL: url, KITH_PREFIX: prefix, KITH_DATA: kept, STORAGE_URL } = readConfig(moveConfig, env);
  const path = resolvePath(textOf(given, 'from') ?? kept, env);
  const without = (given.options.without ?? []) as string[];
  checkFolder(path, serviceMoves);
  const config = readConfig(platformConfig, { ...env, KITH_DATA: path, LOG_LEVEL: 'error' });
  const destination = { write: (line: string) => progress(line.trimEnd()) };
  const log = createLogger({ name: 'kith', level: config.LOG_LEVEL, destination });
  const folder = openDataFolder(path);
  try {
    if (isCopy(readManifest(folder)))
      throw new StartError(
        `${path} is a copy of a platform. First run kith adopt, which makes the copy a separate installation.`,
      );
    await using target = await Target.open({ url, prefix });
    const state = readState(folder, prefix);
    if (state && (isBegun(folder, state) || isHandedOver(folder, state))) progress('resuming the move …');
    else {
      progress('waiting for pending work …');
      await untilQuiet(folder, { config, log, without });
    }
    const parts = { folder, source: new Source(folder), target, prefix };
    const toBucket = async () => {
      const [own, bucket] = [filesIn(path), filesAt({ url, prefix }, undefined)];
      // An earlier try may have copied files that were erased since then. They are removed from GridFS. This is safe, because
      // this move has claimed the databases, so GridFS holds only files of this move.
      await removeOthers(own, bucket);
      await copyFiles(own, bucket, progress);
    };
    // If STORAGE_URL is set, both forms keep the files at this place, so no files are copied.
    const counts = await moveData({ ...parts, ...(!STORAGE_URL && { copyFiles: toBucket }) }, progress);
    return { value: { counts }, text: tableOfCounts(counts) };
  } finally {
    folder.release();
  }
}
