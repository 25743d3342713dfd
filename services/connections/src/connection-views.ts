import { envelopeOf } from './envelope.ts';
import type { PeopleList } from './list-people.ts';

type Asked = Parameters<typeof envelopeOf>[3];

/** A list of established connections as it is answered (SPEC A6). */
export function connectionListOf(found: PeopleList, request: Asked) {
  const connections = found.entries.map(({ id, user, message, requestedAt, connectedAt }) => ({
    id,
    connectedUser: user,
    connectedAt: (connectedAt ?? requestedAt).toISOString(),
    requestedAt: requestedAt.toISOString(),
    message,
  }));
  return envelopeOf('connections', connections, found, request);
}

/** A list of pending requests as it is answered (SPEC B3). */
export function requestListOf(found: PeopleList, type: 'sent' | 'received', request: Asked) {
  const requests = found.entries.map(({ id, user, message, requestedAt }) => ({
    id,
    type,
    user,
    message,
    createdAt: requestedAt.toISOString(),
  }));
  return envelopeOf('requests', requests, found, request);
}

/** What an ending says to who ended it. */
export const endings = {
  withdraw: 'The request was withdrawn.',
  disconnect: 'The connection was ended.',
} as const;
