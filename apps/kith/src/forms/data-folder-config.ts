import { z } from 'zod';

/** Where an embedded installation keeps its data. */
export const dataFolderConfig = z.object({
  KITH_DATA: z.string().default('.kith').describe('data folder of the embedded form'),
  SQLITE_SYNCHRONOUS: z
    .enum(['full', 'normal'])
    .default('full')
    .describe(
      '`full`: answered changes survive a loss of power; `normal`: they survive only the death of the process, for disks that sync slowly',
    ),
});
