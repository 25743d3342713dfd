import { wholeNumber } from '@kith/base/config';
import { httpConfig, publicUrl, publicUrlText, storingServiceConfig } from '@kith/service';
import { z } from 'zod';

const mebibytes = wholeNumber(0, 1_000_000_000);

/** The environment variables of the service. */
export const storageConfig = z.object({
  ...storingServiceConfig.shape,
  ...httpConfig.shape,
  STORAGE_URL: z
    .string()
    .optional()
    .describe(
      'where files are stored: `file:///folder`, or `s3://KEY:SECRET@host:port/bucket` (`?region=…`, `&tls=false`); default: the data folder, or GridFS at `MONGODB_URL`. Give Kith a folder or bucket that holds nothing else',
    ),
  STORAGE_PROJECT_MIB: mebibytes
    .default(10_240)
    .describe('how many MiB of files a project may store at most'),
  STORAGE_USER_MIB: mebibytes.default(500).describe('how many MiB of files a user may store at most'),
  PUBLIC_URL: publicUrl.optional().describe(publicUrlText),
});
