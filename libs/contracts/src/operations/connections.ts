import { z } from 'zod';
import { connectionEnvelope, listQuery } from '../lists.ts';
import { operation } from '../operation.ts';
import { optionalText, text, timestamp, uuid } from '../scalars.ts';
import { nothing, perFiveMinutes } from './shared.ts';
import { publicUser } from './users.ts';

const common = { feature: 'connection', scope: 'project', auth: 'user', shortForm: true } as const;

export const connection = z.object({
  id: uuid,
  connectedUser: publicUser,
  connectedAt: timestamp,
  requestedAt: timestamp,
  message: z.string().nullable(),
});
export type Connection = z.output<typeof connection>;

export const connectionList = connectionEnvelope('connections', connection);

const byUser = z.object({ userId: uuid });
const byConnection = z.object({ connectionId: uuid });
/** A list of people can be searched: `query` in `searchFields` (username, name; both by default), folded. */
const peopleQuery = listQuery({ limit: 20, max: 100 }).extend({
  query: text({ max: 100 }).optional(),
  searchFields: z.enum(['username', 'name']).optional(),
});

/** Asks another user to connect (SPEC B3). */
export const requestConnection = operation({
  ...common,
  name: 'connections.request',
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

/** Accepts a pending request; its receiver only (SPEC B3). */
export const acceptConnection = operation({
  ...common,
  name: 'connections.accept',
  method: ['PATCH', 'PUT'],
  path: '/connections/:connectionId/accept',
  limit: perFiveMinutes(50),
  params: byConnection,
  query: nothing,
  body: nothing,
  output: z.object({ id: uuid, status: z.literal('accepted'), respondedAt: timestamp }),
  status: 200,
  errors: ['connection/not-found', 'connection/unauthorized'],
  invalid: { params: 'connection/not-found' },
});

/** The caller's established connections, newest first (SPEC A6). */
export const listConnections = operation({
  ...common,
  name: 'connections.list',
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

/** How the caller and another user stand; a block does not show (SPEC B3). */
export const getConnectionStatus = operation({
  ...common,
  name: 'connections.get-status',
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

const declined = z.object({ id: uuid, status: z.literal('declined'), respondedAt: timestamp });

/** Withdraws the caller's request to a user, declines theirs, or ends the connection (SPEC B3). */
export const deleteConnectionWithUser = operation({
  ...common,
  name: 'connections.delete-with-user',
  method: 'DELETE',
  path: '/users/:userId/connection',
  limit: perFiveMinutes(50),
  params: byUser,
  query: nothing,
  body: nothing,
  output: z.union([z.object({ message: z.string(), action: z.enum(['withdraw', 'disconnect']) }), declined]),
  status: 200,
  errors: ['connection/self-disconnect', 'connection/not-found'],
  invalid: { params: 'connection/not-found' },
});

/** Withdraws a pending request (its requester) or ends a connection (either side) (SPEC B3). */
export const deleteConnection = operation({
  ...common,
  name: 'connections.delete',
  method: 'DELETE',
  path: '/connections/:connectionId',
  limit: perFiveMinutes(50),
  params: byConnection,
  query: nothing,
  body: nothing,
  output: z.object({ message: z.string() }),
  status: 200,
  errors: ['connection/not-found', 'connection/unauthorized'],
  invalid: { params: 'connection/not-found' },
});

/** Declines a pending request; its receiver only (SPEC B3). */
export const declineConnection = operation({
  ...common,
  name: 'connections.decline',
  method: ['PATCH', 'PUT'],
  path: '/connections/:connectionId/decline',
  limit: perFiveMinutes(50),
  params: byConnection,
  query: nothing,
  body: nothing,
  output: declined,
  status: 200,
  errors: ['connection/not-found', 'connection/unauthorized'],
  invalid: { params: 'connection/not-found' },
});

const count = z.object({ count: z.int() });

/** How many established connections the caller has (SPEC B3). */
export const countConnections = operation({
  ...common,
  name: 'connections.count',
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
  method: 'GET',
  limit: perFiveMinutes(100),
  params: byUser,
  body: nothing,
  status: 200,
  errors: ['connection/user-not-found'],
  invalid: { params: 'connection/user-not-found' },
} as const;

/**
 * A user's established connections, as anyone may see them; for a signed-in caller without whom it blocks or is blocked
 * by, in rows and totals, and empty where that is the user asked for (SPEC B3).
 */
export const listUserConnections = operation({
  ...ofUser,
  name: 'connections.list-of-user',
  path: '/users/:userId/connections',
  query: peopleQuery,
  output: connectionList,
});

/** How many established connections a user has: the total of the list that the same caller gets (SPEC B3). */
export const countUserConnections = operation({
  ...ofUser,
  name: 'connections.count-of-user',
  path: '/users/:userId/connections-count',
  query: nothing,
  output: count,
});

export const connectionRequest = z.object({
  id: uuid,
  type: z.enum(['sent', 'received']),
  user: publicUser,
  message: z.string().nullable(),
  createdAt: timestamp,
});

const pendingList = {
  ...common,
  method: 'GET',
  limit: perFiveMinutes(100),
  params: nothing,
  query: peopleQuery,
  body: nothing,
  output: connectionEnvelope('requests', connectionRequest),
  status: 200,
  errors: [],
} as const;

/** The caller's requests that wait for an answer, newest first (SPEC B3). */
export const listSentRequests = operation({
  ...pendingList,
  name: 'connections.list-sent',
  path: '/connections/pending/sent',
});

/** The requests that wait for the caller's answer, newest first (SPEC B3). */
export const listReceivedRequests = operation({
  ...pendingList,
  name: 'connections.list-received',
  path: '/connections/pending/received',
});
