import { gatewayConfig } from '@kith/gateway';
import { identityConfig } from '@kith/identity';
import { notificationsConfig } from '@kith/notifications';
import { commonConfig } from '@kith/service';
import { z } from 'zod';
import { dataFolderConfig } from './data-folder-config.ts';

/** The environment of a start: the gateway's, what all services share, and where data is kept. */
export const platformConfig = z.object({
  ...commonConfig.shape,
  ...gatewayConfig.shape,
  ERASURES_FILE: identityConfig.shape.ERASURES_FILE,
  NOTIFICATION_DAYS: notificationsConfig.shape.NOTIFICATION_DAYS,
  ...dataFolderConfig.shape,
});
export type PlatformConfig = z.output<typeof platformConfig>;
