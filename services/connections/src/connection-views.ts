import type { Connection, PublicUser } from '@kith/contracts';
import { envelopeOf } from './envelope.ts';
import type { PeopleList } from './list-people.ts';
import type { Entry } from './listing.ts';

type Asked = Parameters<typeof envelopeOf>[3];

type Row = Pick<Entry, 'id' | 'message' | 'requestedAt'> & { user: PublicUser };

/** An established connection as answers show it (spec#connections-list-envelope). */
export function connectionOf(row: Row & Pick<Entry, 'connectedAt'>): Connection {
  const { id, user, message, requestedAt, connectedAt } = row;
  return {
    id,
    connectedUser: user,
    connectedAt: (connectedAt ?? requestedAt).toISOString(),
    requestedAt: requestedAt.toISOString(),
    message,
  };
}

/** A pending request as answers show it (spec#connections-requests-list). */
export function requestOf<Type extends 'sent' | 'received'>(row: Row, type: Type) {
  const { id, user, message, requestedAt } = row;
  return { id, type, user, message, createdAt: requestedAt.toISOString() };
}

/** The answer with a list of established connections (spec#connections-list-envelope). */
export function connectionListOf(found: PeopleList, request: Asked) {
  return envelopeOf('connections', found.entries.map(connectionOf), found, request);
}

/** The answer with a list of pending requests (spec#connections-requests-list). */
export function requestListOf(found: PeopleList, type: 'sent' | 'received', request: Asked) {
  const requests = found.entries.map((entry) => requestOf(entry, type));
  return envelopeOf('requests', requests, found, request);
}

/** The messages that a user gets after ending a request or connection. */
export const endings = {
  withdraw: 'The request was withdrawn.',
  disconnect: 'The connection was ended.',
} as const;
