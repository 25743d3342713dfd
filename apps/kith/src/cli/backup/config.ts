import { commonConfig, mongoConfig, natsConfig, tokenConfig } from '@kith/service/config';
import { z } from 'zod';
import { dataFolderConfig } from '../../forms/data-folder-config.ts';

/** What says where to restore to. */
export const restoreConfig = z.object({
  MONGODB_URL: mongoConfig.shape.MONGODB_URL.optional().describe('databases of the distributed form'),
  KITH_PREFIX: commonConfig.shape.KITH_PREFIX,
  KITH_DATA: dataFolderConfig.shape.KITH_DATA,
  STORAGE_URL: z.string().optional().describe('where files lie, if neither in the data folder nor in GridFS'),
});

/** What says what to back up. */
export const backupConfig = z.object({
  ...restoreConfig.shape,
  NATS_URL: natsConfig.shape.NATS_URL.optional().describe('NATS server of the distributed form'),
  NATS_NKEY: natsConfig.shape.NATS_NKEY.describe('seed of the operator’s NATS user'),
  ...tokenConfig.shape,
});
