import { z } from 'zod';
import { internalOperation } from '../operation.ts';
import { uuid } from '../scalars.ts';

const common = {
  body: z.object({ projectId: uuid }),
  output: z.object({ isDone: z.boolean() }),
  errors: [],
} as const;

/**
 * Erases what is left of the connections of a deleted project, after identity has erased the users. `isDone` is true when
 * nothing is left (docs/adr/0044). The call may be repeated.
 */
export const eraseProjectConnections = internalOperation({
  ...common,
  name: 'connections.erase-project',
  feature: 'connection',
});
/** Like `eraseProjectConnections`, but for collections. */
export const eraseProjectCollections = internalOperation({
  ...common,
  name: 'collections.erase-project',
  feature: 'collection',
});
/** Like `eraseProjectConnections`, but for files. */
export const eraseProjectFiles = internalOperation({
  ...common,
  name: 'storage.erase-project',
  feature: 'storage',
});
/** Like `eraseProjectConnections`, but for notifications. */
export const eraseProjectNotifications = internalOperation({
  ...common,
  name: 'notifications.erase-project',
  feature: 'app-notification',
});

/** All operations that erase what is left of a project. Identity calls each of them. */
export const projectErasures = [
  eraseProjectConnections,
  eraseProjectCollections,
  eraseProjectFiles,
  eraseProjectNotifications,
] as const;
