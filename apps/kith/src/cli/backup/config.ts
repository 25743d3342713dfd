import { commonConfig, mongoConfig, natsConfig, secretConfig, tokenConfig } from '@kith/service/config';
import { z } from 'zod';
import { dataFolderConfig } from '../../forms/data-folder-config.ts';

/** The passphrase that opens or seals a backup. */
export const passphraseConfig = z.object({
  KITH_BACKUP_PASSPHRASE: z
    .string()
    .min(12, 'at least 12 characters are needed')
    .optional()
    .describe(
      'passphrase that seals backups; if it is not set, commands that open a sealed backup ask for it at the terminal',
    ),
});

/** Settings that say where to restore to. */
export const restoreConfig = z.object({
  MONGODB_URL: mongoConfig.shape.MONGODB_URL.optional().describe('databases of the distributed form'),
  KITH_PREFIX: commonConfig.shape.KITH_PREFIX,
  KITH_DATA: dataFolderConfig.shape.KITH_DATA,
  STORAGE_URL: z
    .string()
    .optional()
    .describe('where files are stored, if they are not in the data folder or in GridFS'),
  KITH_SECRET: secretConfig.shape.KITH_SECRET.optional().describe(
    'secret of the platform, which seals its keys',
  ),
  KITH_SECRET_PREVIOUS: secretConfig.shape.KITH_SECRET_PREVIOUS,
  ...passphraseConfig.shape,
});

/** Settings that say what to back up. */
export const backupConfig = z.object({
  ...restoreConfig.shape,
  NATS_URL: natsConfig.shape.NATS_URL.optional().describe('NATS server of the distributed form'),
  NATS_NKEY: natsConfig.shape.NATS_NKEY.describe('seed of the operator’s NATS user'),
  ...tokenConfig.shape,
  KITH_BACKUP_WORK: z
    .string()
    .default('/dev/shm')
    .describe('folder, in memory or encrypted, that holds the databases while a sealed backup is made'),
});
