import { z } from 'zod';
import { connectionEnvelope } from '../lists.ts';
import { operation } from '../operation.ts';
import { shownText, timestamp, uuid } from '../scalars.ts';
import { byConnection, common, declined, peopleQuery } from './connection-shared.ts';
import { nothing, perFiveMinutes } from './shared.ts';
import { publicUser } from './users.ts';

/** Accepts a pending request. Only the receiver may do this (spec#connections-accept). */
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

/** Declines a pending request. Only the receiver may do this (spec#connections-decline). */
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

/**
 * Withdraws a pending request, or ends a connection. Only the requester may withdraw the request. Either of the two users may
 * end the connection (spec#connections-delete).
 */
export const deleteConnection = operation({
  ...common,
  name: 'connections.delete',
  summary: 'Withdraw a request or end a connection',
  method: 'DELETE',
  path: '/connections/:connectionId',
  limit: perFiveMinutes(50),
  params: byConnection,
  query: nothing,
  body: nothing,
  output: z.object({ message: shownText(200) }),
  status: 200,
  errors: ['connection/not-found', 'connection/unauthorized'],
  invalid: { params: 'connection/not-found' },
});

export const connectionRequestOperations = [
  listSentRequests,
  listReceivedRequests,
  acceptConnection,
  declineConnection,
  deleteConnection,
] as const;
