import { wholeNumber } from '@kith/base';
import { storingServiceConfig } from '@kith/service';

/** The environment variables of the notifications service. */
export const notificationsConfig = storingServiceConfig.extend({
  NOTIFICATION_DAYS: wholeNumber(1, 36_500).default(90).describe('how long a notification is kept, in days'),
});
