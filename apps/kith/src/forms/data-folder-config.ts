import { z } from 'zod';

/** Where an embedded installation keeps its data. */
export const dataFolderConfig = z.object({
  KITH_DATA: z.string().default('.kith').describe('data folder of the embedded form'),
  SQLITE_SYNCHRONOUS: z
    .enum(['full', 'normal'])
    .default('full')
    .describe(
      '`full`: acknowledged changes survive a power failure. `normal`, for disks that sync slowly: acknowledged changes survive only a crash of the process',
    ),
});
