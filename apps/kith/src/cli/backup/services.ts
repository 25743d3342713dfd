import { collectionsBackup } from '@kith/collections';
import { connectionsBackup } from '@kith/connections';
import { identityBackup } from '@kith/identity';
import { notificationsBackup } from '@kith/notifications';
import type { ServiceBackup } from '@kith/store/backup';

/**
 * Every service that keeps data, in the order in which they are copied: whoever names what another one owns comes before it, so that
 * nothing names what the owner lacks.
 */
export const serviceBackups: readonly ServiceBackup[] = [
  notificationsBackup,
  collectionsBackup,
  connectionsBackup,
  identityBackup,
];
