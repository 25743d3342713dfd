import { z } from 'zod';
import { operation } from '../operation.ts';
import { sized } from '../scalars.ts';
import { common } from './connection-shared.ts';
import { nothing, perFiveMinutes } from './shared.ts';

/**
 * A user's settings for connections, which say who may send the user a request, and whether others see the user's connections
 * (spec#connections-settings).
 */
export const connectionSettings = z.object({
  /** Who may ask the user to connect: everyone, people with a connection in common, or nobody. */
  requestsFrom: z.enum(['everyone', 'common', 'nobody']),
  /** Whether others can see the user's list of connections and their count. */
  showsConnections: z.boolean(),
});
export type ConnectionSettings = z.output<typeof connectionSettings>;

/** How many types of notifications a user may turn off. */
export const maxTypesOff = 100;

/**
 * For each type of notifications, whether the user gets them (spec#notifications-settings). The result lists Kith's own types,
 * and those other types that the user has turned off.
 */
export const notificationSettings = z.object({
  types: z.record(z.string().regex(/^[a-z0-9-]{1,64}$/), z.boolean()),
});
export type NotificationSettings = z.output<typeof notificationSettings>;

const ofConnections = { ...common, path: '/connections/settings', params: nothing, query: nothing } as const;
const ofNotifications = {
  feature: 'app-notification',
  scope: 'project',
  auth: 'user',
  path: '/app-notifications/settings',
  params: nothing,
  query: nothing,
} as const;
const get = { method: 'GET', limit: perFiveMinutes(100), body: nothing, status: 200, errors: [] } as const;
const update = { method: 'PATCH', limit: perFiveMinutes(50), status: 200, errors: [] } as const;

/** Who may ask the caller to connect, and whether others see the caller's connections (spec#connections-settings). */
export const getConnectionSettings = operation({
  ...ofConnections,
  ...get,
  name: 'connections.get-settings',
  summary: "Get the caller's connection settings",
  output: connectionSettings,
});

/** Changes the given settings. All other settings stay unchanged (spec#connections-settings). */
export const updateConnectionSettings = operation({
  ...ofConnections,
  ...update,
  name: 'connections.update-settings',
  summary: "Change the caller's connection settings",
  body: connectionSettings.partial(),
  output: connectionSettings,
});

/** Which types of notifications the caller gets (spec#notifications-settings). */
export const getNotificationSettings = operation({
  ...ofNotifications,
  ...get,
  name: 'notifications.get-settings',
  summary: "Get the caller's notification settings",
  output: notificationSettings,
});

/** Turns the given types on or off (spec#notifications-settings). */
export const updateNotificationSettings = operation({
  ...ofNotifications,
  ...update,
  name: 'notifications.update-settings',
  summary: "Change the caller's notification settings",
  body: z.object({
    types: sized(
      z.record(
        z.string().regex(/^[a-z0-9-]{1,64}$/, 'must be a type: 1 to 64 of a-z, 0-9 and -.'),
        z.boolean(),
      ),
      (types) =>
        Object.keys(types).length > maxTypesOff ? `must name at most ${maxTypesOff} types.` : undefined,
    ).optional(),
  }),
  output: notificationSettings,
});

export const userSettingsOperations = [
  getConnectionSettings,
  updateConnectionSettings,
  getNotificationSettings,
  updateNotificationSettings,
] as const;
