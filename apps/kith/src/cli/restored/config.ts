import { commonConfig, mongoConfig } from '@kith/service/config';
import { z } from 'zod';
import { dataFolderConfig } from '../../forms/data-folder-config.ts';

/** Settings that say where the database is. */
export const restoredConfig = z.object({
  MONGODB_URL: mongoConfig.shape.MONGODB_URL.optional().describe('databases of the distributed form'),
  KITH_PREFIX: commonConfig.shape.KITH_PREFIX,
  KITH_DATA: dataFolderConfig.shape.KITH_DATA,
});
