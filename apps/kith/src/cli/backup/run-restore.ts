import { existsSync, statSync } from 'node:fs';
import { chmod, constants, copyFile, readdir, realpath, rename, rm } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { createLogger, readConfig, StartError } from '@kith/base';
import type { ErasureNote } from '@kith/identity';
import { secretsOf } from '@kith/service';
import { copyStillFiles } from '@kith/store/backup';
import { type BlobsConfig, blobsAt } from '@kith/store/blobs';
import { isMoved } from '@kith/store/sqlite';
import { type BackupManifest, readManifest } from '../../forms/backup-manifest.ts';
import { checkWhole, isDamage } from '../../forms/check-whole.ts';
import { platformConfig } from '../../forms/config.ts';
import { type DataFolder, dataFolder, openDataFolder } from '../../forms/data-folder.ts';
import { filesAt, filesIn } from '../../forms/files-of.ts';
import { makeFolder } from '../../forms/folder-lock.ts';
import {
  type GivenSecrets,
  secretFile,
  withFoundSecret,
  withKnownSecret,
} from '../../forms/installation-secret.ts';
import { keptInFolder } from '../../forms/kept-in-folder.ts';
import { serviceMoves, storingNames } from '../../services.ts';
import { type Given, type Result, type Surroundings, textOf, UsageError } from '../command.ts';
import { copyFiles } from '../copy-files.ts';
import { type Count, tableOfCounts } from '../counts.ts';
import { resolvePath } from '../data-folder.ts';
import { moveData } from '../move/move.ts';
import { untilQuiet } from '../move/quiet.ts';
import { Source } from '../move/source.ts';
import { dataFiles, readState } from '../move/state.ts';
import { Target } from '../move/target.ts';
import { withSecretsRead } from '../secrets-read.ts';
import { adopt } from './adopt.ts';
import { bringFiles } from './bring-files.ts';
import { restoreConfig } from './config.ts';
import { countDocuments } from './count-documents.ts';
import { deleteAgain, eraseAgain, readErasures, writeErasures } from './erase-again.ts';
import { FaultyFiles } from './faulty-files.ts';
import { passphraseFor } from './passphrase.ts';
import { prepareFolder } from './prepared-folder.ts';
import { recordedFiles } from './recorded-files.ts';
import { resealFolder } from './reseal.ts';
import { isSealed, openSealed, readSealedManifest } from './sealed.ts';
import { removeWhole, whole } from './whole.ts';

/** What is restored, and with which settings. */
interface Restoring {
  from: string;
  manifest: BackupManifest;
  /** The passphrase, if the backup is sealed. */
  passphrase: string | undefined;
  /** The list of erasures, if one is given. */
  erased: readonly ErasureNote[] | undefined;
  /** Consumers that no service has any more. The restore does not wait until they have received all events. */
  without: readonly string[];
  env: NodeJS.ProcessEnv;
  progress: (line: string) => void;
}

/**
 * Carries out `kith restore`. The command's definition is in another file, so that other commands do not load the code that
 * this file imports.
 */
export async function runRestore(given: Given, { progress, ...around }: Surroundings): Promise<Result> {
  const env = withSecretsRead(around.env);
  const from = resolvePath(given.words[0] ?? '', env);
  const passphrase = isSealed(from) ? await passphraseFor(from, given, env) : undefined;
  const manifest =
    passphrase === undefined ? readManifest(dataFolder(from)) : await readSealedManifest(from, passphrase);
  if (!manifest) throw new StartError(`There is no backup in ${from}.`);
  const config = readConfig(restoreConfig, env);
  const { MONGODB_URL: url, KITH_PREFIX: prefix, KITH_DATA, STORAGE_URL } = config;
  const { KITH_SECRET: secret, KITH_SECRET_PREVIOUS: previous } = config;
  const list = textOf(given, 'erased');
  const restoring: Restoring = {
    ...{ from, manifest, passphrase, env, progress },
    erased: list === undefined ? undefined : readErasures(resolvePath(list, env)),
    without: (given.options.without ?? []) as string[],
  };
  if (list === undefined) {
    progress(
      `warning: no --erased; users and projects that were erased after ${manifest.begunAt} are restored`,
    );
  }
  const counts =
    url === undefined
      ? await restoreFolder(restoring, KITH_DATA, STORAGE_URL)
      : await restoreDatabases(restoring, { url, prefix, storageUrl: STORAGE_URL, secret, previous });
  if (url === undefined) warnOfMissingSecret(dataFolder(KITH_DATA), config, progress);
  return { value: { counts }, text: tableOfCounts(counts) };
}

/** Warns if a start on the restored folder, in this command's environment, would have no secret to open the data with. */
function warnOfMissingSecret(
  folder: DataFolder,
  config: GivenSecrets,
  progress: (line: string) => void,
): void {
  try {
    withFoundSecret(folder, config);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    progress(`warning: ${error.message}`);
  }
}

async function restoreFolder(
  restoring: Restoring,
  path: string,
  storageUrl: string | undefined,
): Promise<Count[]> {
  // If the path is a symbolic link, the folder that it points to is replaced, and the link stays.
  const data = existsSync(path) ? await realpath(path) : path;
  // Throws a clear error if no folder can be made beside the data folder.
  makeFolder(`${data}.partial`);
  await whole(data, async (partial) => {
    await checkPlace(data, partial);
    const erased = await prepare(restoring, partial);
    // Keeps the whole list of erasures, because a later restore from an even older backup needs it.
    if (restoring.erased) await writeErasures(join(partial, 'erasures.jsonl'), restoring.erased);
    if (!storageUrl) return;
    const to = [path, data].reduce((place, one) => inPartial(place, one, partial), blobsAt(storageUrl));
    const own = join(partial, 'files');
    if (to.kind === 'folder' && to.folder === own) return;
    // The folder `files` is renamed first, because the place that STORAGE_URL names may be inside of it.
    await rename(own, `${own}.restored`);
    const from = { kind: 'folder', folder: `${own}.restored` } as const;
    await bringFiles({ from, to, erased }, restoring.progress);
    // If the bytes also stayed in this folder, no later erasure would remove them here.
    await rm(from.folder, { recursive: true });
  });
  return countDocuments((service) => join(data, `${service}.sqlite`));
}

/**
 * If a place is below the folder `data`, returns the corresponding place below the folder `partial`. Returns any other place
 * unchanged.
 */
function inPartial(place: BlobsConfig, data: string, partial: string): BlobsConfig {
  if (place.kind !== 'folder') return place;
  const below = relative(data, place.folder);
  const isOutside = isAbsolute(below) || below.split(sep)[0] === '..';
  return isOutside ? place : { ...place, folder: join(partial, below) };
}

/**
 * Throws `StartError` if the data folder is not empty, or if it cannot be replaced by another folder, for example because it is
 * a mount point. Without this check, a restore would fail only at its end.
 */
async function checkPlace(data: string, partial: string): Promise<void> {
  if (!existsSync(data)) return;
  if ((await readdir(data)).length > 0)
    throw new StartError(`${data} is not empty; set KITH_DATA to another folder.`);
  const probe = `${partial}.probe`;
  try {
    await rename(data, probe);
    await rename(probe, data);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(
      `A restore replaces the folder ${data}, but this folder cannot be renamed (${code}). Set KITH_DATA to a folder that can be renamed, for example one below a mount point.`,
      { cause: error },
    );
  }
}

interface Databases {
  url: string;
  prefix: string;
  storageUrl: string | undefined;
  /** The secret of the platform. All sealed data in the databases is sealed under this secret. */
  secret: string | undefined;
  previous: string[];
}

/**
 * Prepares a folder, and fills the databases from it as `kith move` does. If the command is killed, the next run continues with the
 * same folder.
 */
async function restoreDatabases(
  restoring: Restoring,
  { url, prefix, storageUrl, secret, previous }: Databases,
): Promise<Count[]> {
  if (secret === undefined)
    throw new UsageError('Set KITH_SECRET to the secret of the platform that will use these databases.');
  const path = `${restoring.from}.restoring`;
  await using target = await Target.open({ url, prefix });
  const erased = await prepareFolder(path, { ...restoring, prefix }, (partial) =>
    prepare(restoring, partial, { readsLog: true }),
  );
  const files = { from: filesIn(path), to: filesAt({ url, prefix }, storageUrl), erased };
  const toBucket = () => bringFiles(files, restoring.progress);
  const folder = openDataFolder(path);
  let counts: Count[];
  try {
    const state = readState(folder, prefix);
    if (state?.isFinished) {
      // An earlier run has filled the databases and handed them over to the platform. It was killed before it removed the
      // folder. So only the folder still has to be removed.
      for (const service of storingNames) await target.checkClaimed(service, state.move);
      counts = state.counts ?? [];
    } else {
      const settings = {
        KITH_SECRET: secret,
        KITH_SECRET_PREVIOUS: previous,
        NODE_ENV: 'production',
      } as const;
      // If an earlier run has already marked the files as moved, they cannot be opened here to seal them again. But that run
      // has sealed them again before it marked them.
      if (!isMoved(folder.file('events.sqlite')))
        await resealFolder(path, secretsOf(withKnownSecret(folder, settings)));
      const parts = { folder, source: new Source(folder), target, prefix, copyFiles: toBucket };
      counts = await moveData(parts, restoring.progress);
    }
  } finally {
    folder.release();
  }
  await removeWhole(path);
  return counts;
}

/**
 * Fills a folder with the data of the backup, without the erased users and projects. The folder becomes an installation of its
 * own. Returns the erasures that were applied. Erasures from before the backup are not applied, because an erased user may have
 * been imported again before the backup was made.
 *
 * With `readsLog`, the consumers first read the log of events to its end. This is needed if the data goes to databases, because
 * the log is not moved to them, and the new streams begin empty.
 */
async function prepare(
  restoring: Restoring,
  path: string,
  { readsLog = false } = {},
): Promise<ErasureNote[]> {
  const { without, from, manifest, passphrase, env, progress } = restoring;
  if (passphrase === undefined) await copyFolder(from, path, progress);
  else await openSealed(from, path, passphrase);
  await upgrade(path, restoring);
  progress('copied');
  // If STORAGE_URL names another place for the files' bytes, the bytes are copied there after the folder is complete.
  const config = keptInFolder(
    readConfig(platformConfig, { ...env, KITH_DATA: path, LOG_LEVEL: 'error' }, manifest.settings),
  );
  const log = createLogger({ name: 'kith', level: 'error' });
  const file = join(path, 'events.sqlite');
  const bus = { prefix: config.KITH_PREFIX, file, log };
  const since = await adopt(path, { hasList: restoring.erased !== undefined });
  const erased = (restoring.erased ?? []).filter(({ at }) => Date.parse(at) >= since);
  // A backup of the distributed form has no log of events, unless a platform has run on the backup.
  const hasLog = existsSync(file);
  // The users of deleted projects are erased later, with their projects.
  const deleted = new Set(erased.flatMap((one) => (one.userId === undefined ? one.projectId : [])));
  // This call is needed even if nobody has to be erased, because it creates the log of events.
  await eraseAgain(
    erased.filter(({ projectId }) => !deleted.has(projectId)),
    bus,
  );
  if (erased.length > 0 || (readsLog && hasLog)) {
    progress(`waiting for pending work, including ${erased.length} erasures …`);
    const folder = openDataFolder(path);
    await untilQuiet(folder, { config, log, without }).finally(() => folder.release());
  }
  // Projects are deleted last, so that the restore does not wait for the erasure of their users. A project may have many users,
  // and the installation erases them while it runs.
  await deleteAgain(erased, join(path, 'identity.sqlite'));
  return erased;
}

/**
 * Brings the copied databases to the schema of this version, because the backup may be from an earlier version. Throws
 * `StartError` if a database of the backup is missing or empty.
 */
async function upgrade(path: string, { from, manifest }: Restoring): Promise<void> {
  for (const { service, prepare: bringUpToDate } of serviceMoves) {
    const file = join(path, `${service}.sqlite`);
    // The manifest does not count the documents of a service that did not exist in the manifest's version of Kith.
    const isIn = manifest.counts.some((one) => one.service === service);
    if (isIn && !statSync(file, { throwIfNoEntry: false })?.size)
      throw new StartError(`The database ${service}.sqlite of the backup ${from} is missing or empty.`);
    await bringUpToDate({ kind: 'sqlite', file });
  }
}

/** Copies a backup. Somebody may have started a platform on the backup to look at it, and this platform may still run. */
async function copyFolder(from: string, path: string, progress: (line: string) => void): Promise<void> {
  for (const name of ['backup.json', secretFile]) {
    if (!existsSync(join(from, name))) continue;
    await copyFile(join(from, name), join(path, name), constants.COPYFILE_FICLONE);
    // The file may be from a folder in which all files are read-only.
    await chmod(join(path, name), 0o600);
  }
  const names = dataFiles.map((one) => `${one}.sqlite`).filter((name) => existsSync(join(from, name)));
  try {
    // If a platform runs on these databases, or was killed while it ran on them, their latest changes are in other files beside
    // them. If not, the files are simply copied.
    await copyStillFiles(names.map((name) => ({ from: join(from, name), to: join(path, name) })));
    for (const name of names) checkWhole(join(path, name));
  } catch (error) {
    const what = isDamage(error) ? 'are damaged' : 'cannot be copied';
    throw new StartError(`The databases in ${from} ${what}: ${(error as Error).message}.`, { cause: error });
  }
  const list = recordedFiles((service) => join(path, `${service}.sqlite`));
  const faults = new FaultyFiles(progress);
  await copyFiles(filesIn(from), filesIn(path), progress, { list, faults });
  faults.summarize(
    'their bytes are not in the backup; the files were deleted while the backup was made, or their bytes were already lost',
  );
}
