import { z } from 'zod';
import { connectionEnvelope } from '../lists.ts';
import { operation } from '../operation.ts';
import { optionalText, shownText, timestamp, uuid, wholeNumber } from '../scalars.ts';
import { byUser, common, declined, peopleQuery } from './connection-shared.ts';
import { nothing, perFiveMinutes } from './shared.ts';
import { publicUser } from './users.ts';

export const connection = z.object({
  id: uuid,
  connectedUser: publicUser,
  connectedAt: timestamp,
  requestedAt: timestamp,
  message: shownText(1000).nullable(),
});
export type Connection = z.output<typeof connection>;

export const connectionList = connectionEnvelope('connections', connection);

/** Asks another user to connect (spec#connections-request). */
export const requestConnection = operation({
  ...common,
  name: 'connections.request',
  summary: 'Ask a user to connect',
  method: 'POST',
  path: '/users/:userId/connection',
  limit: perFiveMinutes(25),
  params: byUser,
  query: nothing,
  body: z.object({ message: optionalText(1000) }),
  output: z.object({ id: uuid, status: z.literal('pending'), createdAt: timestamp }),
  status: 201,
  errors: [
    'connection/self-request',
    'connection/user-not-found',
    'connection/not-allowed',
    'connection/request-pending',
    'connection/already-connected',
    'connection/request-declined',
  ],
  invalid: { params: 'connection/user-not-found', 'body.message': 'connection/invalid-message' },
});

/** The caller's established connections, newest first (spec#connections-list). */
export const listConnections = operation({
  ...common,
  name: 'connections.list',
  summary: "List the caller's connections",
  method: 'GET',
  path: '/connections',
  limit: perFiveMinutes(100),
  params: nothing,
  query: peopleQuery,
  body: nothing,
  output: connectionList,
  status: 200,
  errors: [],
});

/**
 * The relation between the caller and another user. The answer does not show whether one of them blocks the other
 * (spec#connections-status).
 */
export const getConnectionStatus = operation({
  ...common,
  name: 'connections.get-status',
  summary: 'Get the state of the connection between the caller and a user',
  method: 'GET',
  path: '/users/:userId/connection',
  limit: perFiveMinutes(100),
  params: byUser,
  query: nothing,
  body: nothing,
  output: z.union([
    z.object({ status: z.literal('none') }),
    z.object({
      status: z.literal('pending'),
      type: z.enum(['sent', 'received']),
      connectionId: uuid,
      createdAt: timestamp,
    }),
    z.object({
      status: z.literal('connected'),
      connectionId: uuid,
      connectedAt: timestamp,
      requestedAt: timestamp,
    }),
    z.object({
      status: z.literal('declined'),
      type: z.enum(['sent', 'received']),
      connectionId: uuid,
      respondedAt: timestamp,
    }),
  ]),
  status: 200,
  errors: ['connection/self-check', 'connection/user-not-found'],
  invalid: { params: 'connection/user-not-found' },
});

/**
 * Ends the request or connection between the caller and another user: withdraws the caller's request, declines the other user's
 * request, or ends the connection (spec#connections-delete-with-user).
 */
export const deleteConnectionWithUser = operation({
  ...common,
  name: 'connections.delete-with-user',
  summary: 'Withdraw or decline the request, or end the connection, between the caller and a user',
  method: 'DELETE',
  path: '/users/:userId/connection',
  limit: perFiveMinutes(50),
  params: byUser,
  query: nothing,
  body: nothing,
  output: z.union([
    z.object({ message: shownText(200), action: z.enum(['withdraw', 'disconnect']) }),
    declined,
  ]),
  status: 200,
  errors: ['connection/self-disconnect', 'connection/not-found'],
  invalid: { params: 'connection/not-found' },
});

const count = z.object({ count: wholeNumber });

/** How many established connections the caller has (spec#connections-count). */
export const countConnections = operation({
  ...common,
  name: 'connections.count',
  summary: "Count the caller's connections",
  method: 'GET',
  path: '/connections/count',
  limit: perFiveMinutes(100),
  params: nothing,
  query: nothing,
  body: nothing,
  output: count,
  status: 200,
  errors: [],
});

const ofUser = {
  ...common,
  auth: 'optional',
  visibility: 'connections',
  method: 'GET',
  limit: perFiveMinutes(100),
  params: byUser,
  body: nothing,
  status: 200,
  errors: ['connection/user-not-found'],
  invalid: { params: 'connection/user-not-found' },
} as const;

/**
 * A user's established connections. Anyone may see them, unless the project shows them only to its users
 * (spec#projects-public-connections). If the caller is signed in, rows and totals leave out users whom the caller blocks, and
 * users who block the caller. If such a block exists between the caller and the user in the path, the list is empty
 * (spec#blocks-hides).
 */
export const listUserConnections = operation({
  ...ofUser,
  name: 'connections.list-of-user',
  summary: "List a user's connections",
  path: '/users/:userId/connections',
  query: peopleQuery,
  output: connectionList,
});

/**
 * How many established connections a user has. The number equals the total of the list that the caller would get
 * (spec#connections-count-of-user).
 */
export const countUserConnections = operation({
  ...ofUser,
  name: 'connections.count-of-user',
  summary: "Count a user's connections",
  path: '/users/:userId/connections-count',
  query: nothing,
  output: count,
});

export const connectionOperations = [
  requestConnection,
  getConnectionStatus,
  deleteConnectionWithUser,
  listUserConnections,
  countUserConnections,
  listConnections,
  countConnections,
] as const;
