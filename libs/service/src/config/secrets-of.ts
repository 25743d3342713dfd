import { Secrets } from '@kith/base';
import type { z } from 'zod';
import type { secretConfig } from './common.ts';

/** The secrets from a process's configuration. */
export function secretsOf(config: z.output<typeof secretConfig>): Secrets {
  return new Secrets(config.KITH_SECRET, config.KITH_SECRET_PREVIOUS);
}
