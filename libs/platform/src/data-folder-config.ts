import { z } from 'zod';

/** Where an embedded installation keeps its data. */
export const dataFolderConfig = z.object({
  KITH_DATA: z.string().default('.kith').describe('data folder of the embedded form'),
  SQLITE_SYNCHRONOUS: z
    .enum(['full', 'normal'])
    .default('full')
    .describe(
      '`full`: what was answered survives the loss of power; `normal`: the death of the process alone, for disks that sync slowly',
    ),
});
