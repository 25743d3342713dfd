import { mongoConfig, natsConfig } from '@kith/service';
import { z } from 'zod';
import { platformConfig } from '../../forms/config.ts';

/** The environment variables that an installation of either form reads at its start. */
export const doctorConfig = z.object({
  ...platformConfig.shape,
  ...natsConfig.shape,
  NATS_URL: natsConfig.shape.NATS_URL.optional(),
  MONGODB_URL: mongoConfig.shape.MONGODB_URL.optional(),
});
export type DoctorConfig = z.output<typeof doctorConfig>;
