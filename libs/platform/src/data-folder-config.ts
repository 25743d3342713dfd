import { z } from 'zod';

/** Where an embedded installation keeps its data. */
export const dataFolderConfig = z.object({
  KITH_DATA: z.string().default('.kith').describe('data folder of the embedded form'),
});
