import { randomUUID } from 'node:crypto';
import {
  connectionAccepted,
  connectionBlocked,
  connectionRequested,
  connectionWithdrawn,
  type EventEnvelope,
  type PublicUser,
  userCreated,
} from '@kith/contracts';
import { makeEvent } from '@kith/service';

/** The events of one connection between two users. */
export interface Life {
  connectionId: string;
  requested: EventEnvelope;
  accepted: EventEnvelope;
  withdrawn: EventEnvelope;
  blocked: EventEnvelope;
}

/** Makes the events that the connections service publishes about a request, for every possible outcome of the request. */
export function lifeOf(of: { projectId: string; requesterId: string; receiverId: string; at?: Date }): Life {
  const { projectId, requesterId, receiverId, at = new Date() } = of;
  const connectionId = randomUUID();
  const data = { connectionId, requesterId, receiverId };
  const pair = [requesterId, receiverId].sort().join(':');
  const common = (seq: number, actorId: string) => ({
    projectId,
    actorId,
    aggregate: { type: 'connection', id: pair, seq },
    occurredAt: at,
  });
  const block = { blockerId: receiverId, blockedId: requesterId, connectionId };
  return {
    connectionId,
    requested: makeEvent(connectionRequested, {
      ...common(1, requesterId),
      data: { ...data, message: null },
    }),
    accepted: makeEvent(connectionAccepted, { ...common(2, receiverId), data }),
    withdrawn: makeEvent(connectionWithdrawn, { ...common(2, requesterId), data }),
    blocked: makeEvent(connectionBlocked, { ...common(2, receiverId), data: block }),
  };
}

/** The event that identity publishes for a new user. */
export function userCreatedOf(user: PublicUser): EventEnvelope {
  return makeEvent(userCreated, {
    projectId: user.projectId,
    actorId: user.id,
    aggregate: { type: 'user', id: user.id, seq: 1 },
    data: user,
    occurredAt: new Date(),
  });
}

/** A user with a name. */
export function newUser(projectId: string, name: string): PublicUser {
  return {
    id: randomUUID(),
    foreignId: null,
    projectId,
    role: 'visitor',
    name,
    username: name.toLowerCase(),
    avatar: `https://example.com/${name}.png`,
    bannerFileId: null,
    avatarFileId: null,
    bio: null,
    birthdate: null,
    location: null,
    metadata: {},
    reputation: 0,
    createdAt: new Date().toISOString(),
  };
}
