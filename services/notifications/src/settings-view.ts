import { kithNotificationTypes, type NotificationSettings } from '@kith/contracts';
import type { StoredSettings } from './store/collections.ts';

/**
 * A user's settings as the API shows them. They contain all of Kith's own types, and the other types that are off
 * (spec#notifications-settings).
 */
export function settingsOf({ off }: StoredSettings): NotificationSettings {
  const own = kithNotificationTypes.map((type) => [type, true] as const);
  return { types: Object.fromEntries([...own, ...off.map((type) => [type, false] as const)]) };
}
