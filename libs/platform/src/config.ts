import { gatewayConfig } from '@kith/gateway';
import { notificationsConfig } from '@kith/notifications';
import { commonConfig } from '@kith/service';
import { z } from 'zod';

/** The environment of a start: the gateway's, what all services share, and where data is kept. */
export const platformConfig = z.object({
  ...commonConfig.shape,
  ...gatewayConfig.shape,
  NOTIFICATION_DAYS: notificationsConfig.shape.NOTIFICATION_DAYS,
  KITH_DATA: z.string().default('.kith').describe('data folder of the embedded form'),
});
export type PlatformConfig = z.output<typeof platformConfig>;
