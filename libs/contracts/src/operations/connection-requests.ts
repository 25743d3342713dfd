import { z } from 'zod';
import { connectionEnvelope } from '../lists.ts';
import { operation } from '../operation.ts';
import { optionalText, shownText, timestamp, uuid } from '../scalars.ts';
import { byConnection, byUser, common, declined, peopleQuery } from './connection-shared.ts';
import { nothing, perFiveMinutes } from './shared.ts';
import { publicUser } from './users.ts';

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

/** Accepts a pending request; its receiver only (spec#connections-accept). */
export const acceptConnection = operation({
  ...common,
  name: 'connections.accept',
  summary: 'Accept a request',
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

/** Declines a pending request; its receiver only (spec#connections-decline). */
export const declineConnection = operation({
  ...common,
  name: 'connections.decline',
  summary: 'Decline a request',
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

export const connectionRequest = z.object({
  id: uuid,
  type: z.enum(['sent', 'received']),
  user: publicUser,
  message: shownText(1000).nullable(),
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

/** The caller's requests that wait for an answer, newest first (spec#connections-list-sent). */
export const listSentRequests = operation({
  ...pendingList,
  name: 'connections.list-sent',
  summary: 'List the requests the caller has sent',
  path: '/connections/pending/sent',
});

/** The requests that wait for the caller's answer, newest first (spec#connections-list-received). */
export const listReceivedRequests = operation({
  ...pendingList,
  name: 'connections.list-received',
  summary: 'List the requests the caller has received',
  path: '/connections/pending/received',
});
