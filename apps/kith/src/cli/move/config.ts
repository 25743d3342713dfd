import { commonConfig, mongoConfig, secretConfig } from '@kith/service/config';
import { z } from 'zod';
import { dataFolderConfig } from '../../forms/data-folder-config.ts';

/** Settings that say where to move the data. */
export const moveConfig = z.object({
  MONGODB_URL: mongoConfig.shape.MONGODB_URL.describe('destination: MongoDB or a compatible server'),
  KITH_PREFIX: commonConfig.shape.KITH_PREFIX,
  KITH_DATA: dataFolderConfig.shape.KITH_DATA,
  KITH_SECRET: secretConfig.shape.KITH_SECRET.optional().describe(
    'secret of the platform, which seals its keys; default: the file `secret` in the data folder',
  ),
  KITH_SECRET_PREVIOUS: secretConfig.shape.KITH_SECRET_PREVIOUS,
  STORAGE_URL: z
    .string()
    .optional()
    .describe('where files are stored in both forms, if they are not in the folder or in GridFS'),
});
