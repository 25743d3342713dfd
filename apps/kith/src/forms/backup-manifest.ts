import { readConfig, StartError } from '@kith/base';
import { commonConfig, tokenConfig } from '@kith/service/config';
import { z } from 'zod';
import type { DataFolder } from './data-folder.ts';

/** The description of a backup, in a file of the backup's folder. */
const manifest = z.object({
  format: z.literal(1),
  /** The version of Kith that made the backup. */
  version: z.string(),
  /** The backup holds everything that was acknowledged before this time. */
  begunAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  form: z.enum(['embedded', 'distributed']),
  isAnonymised: z.boolean(),
  /** The settings with which the platform made its tokens and events. */
  settings: z.object({ KITH_PREFIX: z.string(), TOKEN_ISSUER: z.string(), TOKEN_AUDIENCE: z.string() }),
  /** How many documents each collection of a service has. */
  counts: z.array(z.object({ service: z.string(), collection: z.string(), documents: z.int() })),
  /** The time when the backup became an installation of its own. Missing as long as the backup is a copy. */
  adoptedAt: z.iso.datetime().optional(),
});
export type BackupManifest = z.output<typeof manifest>;

export const manifestFile = 'backup.json';

const tokenSettings = z.object({ KITH_PREFIX: commonConfig.shape.KITH_PREFIX, ...tokenConfig.shape });

/**
 * Reads the description of the backup in a folder. Returns `undefined` if the folder holds no backup. Throws `StartError` if the
 * description cannot be read.
 */
export function readManifest(folder: Pick<DataFolder, 'read' | 'file'>): BackupManifest | undefined {
  const text = folder.read(manifestFile);
  if (text === undefined) return undefined;
  try {
    return manifest.parse(JSON.parse(text));
  } catch (error) {
    throw new StartError(`${folder.file(manifestFile)} cannot be read by this version of Kith.`, {
      cause: error,
    });
  }
}

/**
 * The settings with which a platform on a folder makes its tokens and events. If the folder holds a backup, the environment
 * takes precedence over the settings of this backup.
 */
export function settingsOn(
  backup: BackupManifest | undefined,
  env: NodeJS.ProcessEnv,
): BackupManifest['settings'] {
  return readConfig(tokenSettings, env, backup?.settings);
}

/** Whether a folder with this description is a copy of a platform, and not an installation of its own. */
export function isCopy(backup: BackupManifest | undefined): backup is BackupManifest {
  return backup !== undefined && backup.adoptedAt === undefined;
}

export function writeManifest(folder: Pick<DataFolder, 'write'>, content: BackupManifest): void {
  folder.write(manifestFile, `${JSON.stringify(content, null, 2)}\n`);
}
