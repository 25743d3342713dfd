// Made from the contracts by tools/client.ts.
import type { OperationTable, WriteOptions } from '../operation.ts';
import type { OwnUser, ServerMethods } from './types.ts';

export interface UsersMethods {
  /**
   * Changes the caller's own profile. A server key can change the profile of any user of its project. It can also change `role` and `reputation`.
   *
   * Errors of this method: `user/not-found`, `auth/forbidden`, `DUPLICATE_USERNAME`, `user/server-error`, `user/invalid-body`.
   */
  update(input: ServerMethods['users.update']['input'], options?: WriteOptions): Promise<OwnUser>;
}

export interface NotificationsMethods {
  /**
   * Notifies users on behalf of the application's own back end. These notifications are in the same lists, counts and streams as Kith's. Skips ids that belong to no user, and users who have turned the type off. Returns how many users were notified.
   *
   * Errors of this method: `app-notification/server-error`, `app-notification/invalid-body`.
   */
  create(
    input: ServerMethods['notifications.create']['input'],
    options?: WriteOptions,
  ): Promise<{ created: number }>;
}

/** All groups of methods. */
export interface MethodGroups {
  readonly users: UsersMethods;
  readonly notifications: NotificationsMethods;
}

export const operations = {
  users: {
    update: { method: 'PATCH', path: '/users/:userId', auth: 'user', takesKey: true, takesInput: true },
  },
  notifications: {
    create: {
      method: 'POST',
      path: '/app-notifications',
      auth: 'server-key',
      takesKey: true,
      takesInput: true,
    },
  },
} satisfies OperationTable;
