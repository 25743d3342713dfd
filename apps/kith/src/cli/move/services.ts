import { collectionsMove } from '@kith/collections';
import { connectionsMove } from '@kith/connections';
import { identityMove } from '@kith/identity';
import { notificationsMove } from '@kith/notifications';
import type { ServiceMove } from '@kith/store/open';

/** Every service that keeps data. */
export const serviceMoves: readonly ServiceMove[] = [
  identityMove,
  connectionsMove,
  collectionsMove,
  notificationsMove,
];
