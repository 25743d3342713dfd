import { commonConfig, mongoConfig, secretConfig } from '@kith/service/config';
import { z } from 'zod';
import { dataFolderConfig } from '../../forms/data-folder-config.ts';

/** Settings that name the places of sealed data, and the secrets that seal it. */
export const secretsConfig = z.object({
  MONGODB_URL: mongoConfig.shape.MONGODB_URL.optional().describe('databases of the distributed form'),
  KITH_PREFIX: commonConfig.shape.KITH_PREFIX,
  KITH_DATA: dataFolderConfig.shape.KITH_DATA,
  KITH_SECRET: secretConfig.shape.KITH_SECRET.optional().describe('the new secret'),
  KITH_SECRET_PREVIOUS: secretConfig.shape.KITH_SECRET_PREVIOUS.describe('the old secret'),
});
