import { secretConfig, storingServiceConfig, tokenConfig } from '@kith/service';
import { z } from 'zod';

/** The environment of the service as a process of its own. */
export const identityConfig = z.object({
  ...storingServiceConfig.shape,
  ...tokenConfig.shape,
  ...secretConfig.shape,
  ERASURES_FILE: z
    .string()
    .optional()
    .describe(
      'file in which each erasure of a user or a project is noted, for restoring a backup from before it; on another disk than the database, and shared by all replicas of identity',
    ),
});
