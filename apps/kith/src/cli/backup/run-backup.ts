import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createLogger, readConfig, type Secrets, StartError } from '@kith/base';
import { Passwords } from '@kith/identity';
import { secretsOf } from '@kith/service';
import { anonymise, MadeUp, snapshotFiles } from '@kith/store/backup';
import { blobsAt } from '@kith/store/blobs';
import { isMoved } from '@kith/store/sqlite';
import type { z } from 'zod';
import {
  type BackupManifest,
  isCopy,
  readManifest,
  settingsOn,
  writeManifest,
} from '../../forms/backup-manifest.ts';
import { dataFolder } from '../../forms/data-folder.ts';
import { filesAt, filesIn } from '../../forms/files-of.ts';
import { withKnownSecret } from '../../forms/installation-secret.ts';
import { keptInFolder } from '../../forms/kept-in-folder.ts';
import { runsDistributed } from '../../forms/running.ts';
import { serviceBackups } from '../../services.ts';
import { type Given, type Result, type Surroundings, UsageError } from '../command.ts';
import { copyFiles } from '../copy-files.ts';
import { type Count, tableOfCounts } from '../counts.ts';
import { resolvePath } from '../data-folder.ts';
import { dataFiles } from '../move/state.ts';
import { version } from '../version.ts';
import { checkFiles, hasAny, nameOf } from './check-files.ts';
import { backupConfig } from './config.ts';
import { countDocuments } from './count-documents.ts';
import { FaultyFiles } from './faulty-files.ts';
import { inHeldFolder, removeLeft } from './held-folder.ts';
import { LiveFiles } from './live-files.ts';
import { givenPassphrase } from './passphrase.ts';
import { recordedFiles } from './recorded-files.ts';
import { resealForBackup } from './reseal.ts';
import { isFull, makeWork, noWork, writeSealed } from './sealed.ts';
import { whole } from './whole.ts';

type Config = z.output<typeof backupConfig>;
type Progress = (line: string) => void;

/**
 * Carries out `kith backup`. The command's definition is in another file, so that other commands do not load the code that this
 * file imports.
 */
export async function runBackup(given: Given, { env, progress }: Surroundings): Promise<Result> {
  const folder = resolvePath(given.words[0] ?? '', env);
  if (existsSync(folder)) throw new StartError(`${folder} exists already; choose a new folder.`);
  const read = readConfig(backupConfig, env);
  const copied = read.MONGODB_URL ? undefined : readManifest(dataFolder(read.KITH_DATA));
  const copy = isCopy(copied) ? copied : undefined;
  const work = resolvePath(read.KITH_BACKUP_WORK, env);
  // As in `kith start`, the environment takes precedence over the settings that a folder's `backup.json` records.
  const own = { ...read, ...settingsOn(copied, env), KITH_BACKUP_WORK: work };
  const config = copy ? keptInFolder(own) : own;
  const isAnonymised = given.options.anonymise === true;
  // An anonymised backup holds no personal data, so it is never sealed.
  const passphrase = isAnonymised ? undefined : givenPassphrase(given, env);
  await using platform = new LiveFiles(config);
  const faulty = new FaultyFiles(progress, platform);
  const how = { config, copy, isAnonymised, platform, faulty, progress };
  removeLeft(dirname(folder), (name) => name.endsWith('.partial'), progress);
  const made = await whole(
    folder,
    async (partial) => {
      const written =
        passphrase === undefined
          ? await write(partial, how)
          : await writeSealedFolder(partial, passphrase, how);
      // The place of the files may have disappeared while the files were copied.
      if (faulty.hasMissing) await checkFiles(filesOf(config));
      return written;
    },
    { isSealed: passphrase !== undefined },
  );
  faulty.summarize(
    `their bytes are not in ${nameOf(filesOf(config))}; they are lost, or STORAGE_URL is wrong`,
  );
  progress(`the backup is in ${folder}`);
  if (!isAnonymised && passphrase === undefined) {
    progress('the backup does not contain KITH_SECRET, which is needed to start a platform on it');
  }
  return { value: { folder, ...made, ...faulty.result }, text: tableOfCounts(made.counts) };
}

interface How {
  config: Config;
  /** The description of the source, if the source is a backup that was not adopted. */
  copy: BackupManifest | undefined;
  isAnonymised: boolean;
  platform: LiveFiles;
  faulty: FaultyFiles;
  progress: Progress;
  /** Whether the folder will be sealed. If so, the folder holds the secret that seals its keys, but not the users' files. */
  isSealed?: boolean;
}

/**
 * Writes a sealed backup. Until the databases are sealed, their copies are in memory or in an encrypted folder, so that no unsealed
 * data gets to a disk.
 */
async function writeSealedFolder(folder: string, passphrase: string, how: How) {
  const { KITH_BACKUP_WORK: below } = how.config;
  const work = await makeWork(below, how.progress);
  return inHeldFolder(work, async () => {
    const made = await write(work, { ...how, isSealed: true }).catch((error) => {
      throw isFull(error) ? noWork(below, 'is full', error) : error;
    });
    await writeSealed({
      work,
      files: filesOf(how.config),
      to: folder,
      passphrase,
      faults: how.faulty,
    });
    return made;
  });
}

/** Writes a backup to an existing, empty folder. */
async function write(
  folder: string,
  { config, copy, isAnonymised, platform, faulty, progress, isSealed = false }: How,
): Promise<{ counts: Count[]; password?: string }> {
  // If the source is itself a backup, it may hold users whom the original platform erased after the source was made. A restore
  // applies only erasures after `begunAt`. So the new backup takes `begunAt` from the source.
  const begunAt = copy?.begunAt ?? new Date().toISOString();
  const fileOf = (name: string) => join(folder, `${name}.sqlite`);
  const settings = config.MONGODB_URL
    ? await backUpDatabases(config, fileOf, progress)
    : await backUpFolder(config.KITH_DATA, config, fileOf, progress);
  if (!isAnonymised && (await hasAny(recordedFiles(fileOf))))
    await checkFiles(filesOf(config), platform.those(recordedFiles(fileOf)));
  // The bytes of the users' files are copied after the records of the files. If a file is stored between these two steps, the
  // file is not in the backup. If a file is removed between them, the backup has the file's record but not its bytes.
  if (isSealed) await resealForBackup(folder, secretsIn(config));
  else if (!isAnonymised) {
    const recorded = { list: recordedFiles(fileOf), faults: faulty };
    await copyFiles(filesOf(config), filesIn(folder), progress, recorded);
  }
  const password = isAnonymised ? await anonymiseAll(fileOf, progress) : undefined;
  const counts = countDocuments(fileOf);
  writeManifest(dataFolder(folder), {
    ...{ format: 1, version, begunAt, endedAt: new Date().toISOString(), isAnonymised },
    ...{ form: config.MONGODB_URL ? 'distributed' : 'embedded', settings, counts },
  });
  return { counts, ...(password && { password }) };
}

/** The secrets under which the platform has sealed its data. */
function secretsIn(config: Config): Secrets {
  if (!config.MONGODB_URL)
    return secretsOf(withKnownSecret(dataFolder(config.KITH_DATA), { ...config, NODE_ENV: 'production' }));
  const { KITH_SECRET, KITH_SECRET_PREVIOUS } = config;
  if (KITH_SECRET === undefined)
    throw new UsageError('Set KITH_SECRET to the secret under which the platform has sealed its keys.');
  return secretsOf({ KITH_SECRET, KITH_SECRET_PREVIOUS });
}

/** Where the backed-up platform keeps its files. */
function filesOf({ MONGODB_URL: url, KITH_PREFIX: prefix, KITH_DATA, STORAGE_URL }: Config) {
  if (url) return filesAt({ url, prefix }, STORAGE_URL);
  return STORAGE_URL ? blobsAt(STORAGE_URL) : filesIn(KITH_DATA);
}

async function backUpDatabases(
  { MONGODB_URL: mongodbUrl = '', NATS_URL: url, NATS_NKEY: nkeySeed, ...config }: Config,
  fileOf: (service: string) => string,
  progress: Progress,
): Promise<BackupManifest['settings']> {
  if (!url) throw new UsageError('Set NATS_URL together with MONGODB_URL.');
  // The drivers are loaded only when needed, because the embedded form works without them (docs/adr/0043).
  const { NatsBus } = await import('@kith/bus/nats');
  const { copyDatabases } = await import('./copy-databases.ts');
  const prefix = config.KITH_PREFIX;
  const log = createLogger({ name: 'kith', level: 'silent' });
  const bus = await NatsBus.connect({ url, nkeySeed, name: 'operator', prefix, log });
  await copyDatabases({ mongodbUrl, prefix, bus }, fileOf, progress).finally(() => bus.close());
  return settingsOf(config);
}

/**
 * Copies all database files, including the file of the events, in the state that they have at one moment. So after a restore no
 * event has to be published again.
 */
async function backUpFolder(
  from: string,
  config: Config,
  fileOf: (service: string) => string,
  progress: Progress,
): Promise<BackupManifest['settings']> {
  if (runsDistributed(from)) {
    throw new StartError(
      `The distributed form runs on ${from}. Set MONGODB_URL and NATS_URL to back it up (docs/transport.md). To back up the older data in the files of ${from}, first stop that form.`,
    );
  }
  const missing = dataFiles.find((name) => !existsSync(join(from, `${name}.sqlite`)));
  if (missing)
    throw new StartError(`There is no embedded installation in ${from}: ${missing}.sqlite is missing.`);
  if (isMoved(join(from, 'events.sqlite'))) {
    throw new StartError(`The data in ${from} was moved to the distributed form; back up that form instead.`);
  }
  const files = dataFiles.map((name) => ({ from: join(from, `${name}.sqlite`), to: fileOf(name) }));
  await snapshotFiles(files, (file) => progress(`${file}: copied`));
  return settingsOf(config);
}

/**
 * Replaces each database file by an anonymised copy. Removes the events and sessions, because they show what people have done.
 * Returns the new password of all users.
 */
async function anonymiseAll(fileOf: (name: string) => string, progress: Progress): Promise<string> {
  const password = randomBytes(9).toString('base64url');
  const made = new MadeUp(await new Passwords().hash(password, Number.MAX_SAFE_INTEGER));
  for (const backup of serviceBackups) {
    const [real, other] = [fileOf(backup.service), fileOf(`${backup.service}.anonymous`)];
    anonymise(backup, real, other, made);
    await rename(other, real);
    progress(`${backup.service}: anonymised`);
  }
  await rm(fileOf('events'), { force: true });
  progress(`all users now have the password ${password}`);
  return password;
}

function settingsOf({ KITH_PREFIX, TOKEN_ISSUER, TOKEN_AUDIENCE }: Omit<Config, 'MONGODB_URL'>) {
  return { KITH_PREFIX, TOKEN_ISSUER, TOKEN_AUDIENCE };
}
