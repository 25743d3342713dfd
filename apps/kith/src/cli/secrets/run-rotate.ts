import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { CannotOpen, readConfig, type Secrets, StartError } from '@kith/base';
import { secretsOf, storeOf } from '@kith/service';
import type { Resealed, StoreConfig } from '@kith/store';
import { openDocuments, resealAll } from '@kith/store/open';
import { isMoved } from '@kith/store/sqlite';
import { type DataFolder, openDataFolder } from '../../forms/data-folder.ts';
import {
  installationFile,
  olderSecretFile,
  secretFile,
  withKnownSecret,
} from '../../forms/installation-secret.ts';
import { serviceBackups } from '../../services.ts';
import type { Given, Result, Surroundings } from '../command.ts';
import { requireInstallation } from '../data-folder.ts';
import { tableOf } from '../table.ts';
import { secretsConfig } from './config.ts';

type Row = { service: string } & Omit<Resealed, 'left'>;

/** Carries out `kith secrets rotate`. */
export async function runRotateSecrets(_given: Given, { env }: Surroundings): Promise<Result> {
  const config = readConfig(secretsConfig, env);
  const { MONGODB_URL, KITH_SECRET, KITH_SECRET_PREVIOUS, KITH_DATA } = config;
  const rows =
    MONGODB_URL === undefined
      ? await rotateInFolder(KITH_DATA, { KITH_SECRET, KITH_SECRET_PREVIOUS }, env)
      : await rotateInDatabases({ ...config, MONGODB_URL });
  const text = tableOf(rows, {
    service: ({ service }) => service,
    sealed: ({ sealed }) => String(sealed),
    anew: ({ anew }) => String(anew),
    unreadable: ({ unreadable }) => String(unreadable),
  });
  return { value: rows, text };
}

type Configured = Pick<
  ReturnType<typeof readConfig<typeof secretsConfig>>,
  'KITH_SECRET' | 'KITH_SECRET_PREVIOUS'
>;

async function rotateInFolder(path: string, given: Configured, env: NodeJS.ProcessEnv): Promise<Row[]> {
  requireInstallation(path);
  const folder = openDataFolder(path);
  try {
    refuseDistributed(folder);
    refuseOwnFiles(folder, env);
    if (given.KITH_SECRET === undefined) makeNext(folder);
    const secrets = secretsOf(withKnownSecret(folder, { ...given, NODE_ENV: 'production' }));
    const rows = await resealEach(secrets, (service) => ({
      kind: 'sqlite',
      file: folder.file(`${service}.sqlite`),
    }));
    rmSync(folder.file(olderSecretFile), { force: true });
    // If the secret was given as a setting, the operator stores it elsewhere. So the data folder must not hold it.
    if (given.KITH_SECRET !== undefined) rmSync(folder.file(secretFile), { force: true });
    return rows;
  } finally {
    folder.release();
  }
}

/**
 * Throws `StartError` if data of the distributed form is sealed under the folder's secret. The rotation would not seal this data
 * again, and would remove the only copy of the secret.
 */
function refuseDistributed(folder: DataFolder): void {
  const events = folder.file('events.sqlite');
  if (existsSync(events) && isMoved(events)) {
    throw new StartError(
      `The data in ${folder.path} was moved to the distributed form. Set MONGODB_URL, so that the secret is changed there (docs/secrets.md).`,
    );
  }
  const record = folder.file(installationFile);
  if (!existsSync(record)) return;
  throw new StartError(
    `The distributed form was started on ${folder.path}, too, and its databases are sealed under the same secret. This command would change only the files. If nobody needs those databases any more, remove ${record}.`,
  );
}

/** Throws `StartError` if a setting names a file that the rotation removes. That file may be the only copy of the secret. */
function refuseOwnFiles(folder: DataFolder, env: NodeJS.ProcessEnv): void {
  const own = [secretFile, olderSecretFile].map((name) => realPath(folder.file(name)));
  for (const name of ['KITH_SECRET_FILE', 'KITH_SECRET_PREVIOUS_FILE']) {
    const named = env[name];
    if (!named || !own.includes(realPath(named))) continue;
    throw new StartError(
      `${name}: ${named} is the data folder's own file, and this command removes it. To keep its secret, copy the file to a place outside of the data folder and name the copy. To replace its secret by a new one, leave out ${name}.`,
    );
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // There is no such file.
    return path;
  }
}

/**
 * Replaces the folder's secret by a new one. The old secret stays beside the new one until nothing is sealed under the old secret.
 */
function makeNext(folder: DataFolder): void {
  const current = folder.read(secretFile);
  if (!current) {
    throw new StartError('KITH_SECRET: set it to the new secret, and KITH_SECRET_PREVIOUS to the old one.');
  }
  // If the two secrets differ, an earlier command that died has already made the new secret.
  const older = folder.read(olderSecretFile);
  if (older !== undefined && older !== current) return;
  folder.write(olderSecretFile, current);
  folder.write(secretFile, `${randomBytes(32).toString('base64url')}\n`);
}

function rotateInDatabases(
  config: Configured & { MONGODB_URL: string; KITH_PREFIX: string },
): Promise<Row[]> {
  const { KITH_SECRET, KITH_SECRET_PREVIOUS } = config;
  if (!KITH_SECRET) {
    throw new StartError('KITH_SECRET: set it to the new secret, and KITH_SECRET_PREVIOUS to the old one.');
  }
  const secrets = secretsOf({ KITH_SECRET, KITH_SECRET_PREVIOUS });
  return resealEach(secrets, (service) => storeOf(service, config));
}

/** A pass skips data that changes during the pass. So passes are repeated until nothing is left. */
async function resealEach(secrets: Secrets, placeOf: (service: string) => StoreConfig): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { service, declared, sealed = [] } of serviceBackups) {
    if (sealed.length === 0) continue;
    const documents = await openDocuments(placeOf(service), declared);
    try {
      let anew = 0;
      for (let left = 1; left > 0; ) {
        const pass = await resealAll(documents, sealed, secrets);
        anew += pass.anew;
        left = pass.left;
        if (left === 0) rows.push({ service, sealed: pass.sealed, anew, unreadable: pass.unreadable });
      }
    } catch (error) {
      if (!(error instanceof CannotOpen)) throw error;
      throw new StartError(
        `KITH_SECRET_PREVIOUS: some data of ${service} was sealed under a secret that is missing. Name all secrets that were in use.`,
        { cause: error },
      );
    } finally {
      await documents.close();
    }
  }
  return rows;
}
