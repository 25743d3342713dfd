import { collectionsMove } from '@kith/collections';
import { connectionsMove } from '@kith/connections';
import { identityMove } from '@kith/identity';
import { notificationsMove } from '@kith/notifications';
import type { ServiceMove } from '@kith/service';

/** Every service that keeps data. */
export const serviceMoves: readonly ServiceMove[] = [
  identityMove,
  connectionsMove,
  collectionsMove,
  notificationsMove,
];

/** The service that publishes a feature's events. */
export function serviceOfEvent(type: string): string {
  const [feature = ''] = type.split('.');
  const services: Record<string, string> = {
    user: 'identity',
    session: 'identity',
    connection: 'connections',
    collection: 'collections',
    notification: 'notifications',
  };
  const service = services[feature];
  if (!service) throw new Error(`Events of ${feature} are nobody's.`);
  return service;
}
