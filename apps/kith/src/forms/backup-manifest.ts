import { StartError } from '@kith/base';
import { z } from 'zod';
import type { DataFolder } from './data-folder.ts';

/** What a backup says of itself, in a file of its folder. */
const manifest = z.object({
  format: z.literal(1),
  /** The version of Kith that made it. */
  version: z.string(),
  /** The backup holds everything that was acknowledged before this time. */
  begunAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  form: z.enum(['embedded', 'distributed']),
  isAnonymised: z.boolean(),
  /** The settings with which its tokens and events were made. */
  settings: z.object({ KITH_PREFIX: z.string(), TOKEN_ISSUER: z.string(), TOKEN_AUDIENCE: z.string() }),
  /** How many documents each collection of a service has. */
  counts: z.array(z.object({ service: z.string(), collection: z.string(), documents: z.int() })),
  /** When it was made an installation of its own; until then it is a copy. */
  adoptedAt: z.iso.datetime().optional(),
});
export type BackupManifest = z.output<typeof manifest>;

export const manifestFile = 'backup.json';

/** What the backup in a folder says of itself; `undefined` if the folder holds none. Throws `StartError` if it cannot be read. */
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

export function writeManifest(folder: Pick<DataFolder, 'write'>, content: BackupManifest): void {
  folder.write(manifestFile, `${JSON.stringify(content, null, 2)}\n`);
}
