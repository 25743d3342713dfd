import type { EventEnvelope } from '@kith/contracts';
import { fold, type OutboxFields, outboxIndex, outboxUpdate } from '@kith/service';
import type { IndexDescription, UpdateFilter, WithId } from 'mongodb';
import { placeOf } from '../listing.ts';
import type { RevocationReason } from './accounts.ts';
import type { User } from './index.ts';

/** What is left of a deleted user until its last event is out and all else of it gone. */
export interface Tombstone extends OutboxFields {
  _id: string;
  projectId: string;
  userId: string;
  rev: number;
  seq: number;
  deletedAt: Date;
}

/** What is unique is absent where there is none: the indexes leave those documents out. */
export interface UserDocument
  extends Omit<User, 'id' | 'foreignId' | 'email' | 'metadata' | 'suspendedAt'>,
    OutboxFields {
  /** `<projectId>|<userId>`. */
  _id: string;
  userId: string;
  /** Where it stands in the list of all users: `<projectId>|<place>`. */
  place: string;
  foreignId?: string;
  email?: string;
  /** The username in lower case. */
  usernameKey?: string;
  /** The name folded for searching, empty where there is none. */
  nameKey: string;
  /** JSON: its keys may hold dots and dollars. */
  metadata: string;
  deletedAt?: never;
  suspendedAt?: Date;
  /** While sessions that its last change made outdated may not all be revoked. */
  endingAt?: Date;
  endingReason?: RevocationReason;
}

export const userIndexes: readonly IndexDescription[] = [
  {
    name: 'email',
    key: { projectId: 1, email: 1 },
    unique: true,
    partialFilterExpression: { email: { $exists: true } },
  },
  {
    name: 'username',
    key: { projectId: 1, usernameKey: 1 },
    unique: true,
    partialFilterExpression: { usernameKey: { $exists: true } },
  },
  {
    name: 'foreignId',
    key: { projectId: 1, foreignId: 1 },
    unique: true,
    partialFilterExpression: { foreignId: { $exists: true } },
  },
  { name: 'place', key: { place: 1 } },
  { name: 'userId', key: { userId: 1 } },
  { name: 'name', key: { projectId: 1, nameKey: 1 } },
  {
    name: 'deleted',
    key: { deletedAt: 1 },
    partialFilterExpression: { deletedAt: { $exists: true } },
  },
  outboxIndex,
];

/** The `_id` of a user. */
export function idOf(projectId: string, userId: string): string {
  return `${projectId}|${userId}`;
}

/** A new user's document. */
export function documentOf({ id, foreignId, email, metadata, suspendedAt, ...user }: User): UserDocument {
  return {
    _id: idOf(user.projectId, id),
    userId: id,
    ...user,
    place: `${user.projectId}|${placeOf({ id, createdAt: user.createdAt })}`,
    nameKey: fold(user.name ?? ''),
    ...(suspendedAt === null ? {} : { suspendedAt }),
    ...(foreignId === null ? {} : { foreignId }),
    ...(email === null ? {} : { email }),
    ...(user.username === null ? {} : { usernameKey: user.username.toLowerCase() }),
    metadata: JSON.stringify(metadata),
  };
}

/** The user a document holds. */
export function userOf(document: WithId<UserDocument>): User {
  const { _id, userId, place, foreignId, email, usernameKey, nameKey, metadata, ...rest } = document;
  const { outbox, outboxAt, endingAt, endingReason, suspendedAt, ...user } = rest;
  return {
    ...user,
    // Documents of a version without these have neither.
    sessionEpoch: user.sessionEpoch ?? 0,
    keptSession: user.keptSession ?? null,
    id: userId,
    foreignId: foreignId ?? null,
    suspendedAt: suspendedAt ?? null,
    email: email ?? null,
    metadata: JSON.parse(metadata),
  };
}

/** The update that stores a user's profile with the event of its change. */
export function changeOf(user: User, event: EventEnvelope): UpdateFilter<UserDocument> {
  const { username, name, avatar, bio, location, birthdate, metadata, updatedAt, rev, seq } = user;
  const profile = { username, name, avatar, bio, location, birthdate, metadata: JSON.stringify(metadata) };
  const { $set, $push } = outboxUpdate([event]);
  return {
    $set: {
      ...profile,
      nameKey: fold(name ?? ''),
      ...(username === null ? {} : { usernameKey: username.toLowerCase() }),
      updatedAt,
      rev,
      seq,
      ...$set,
    },
    ...(username === null ? { $unset: { usernameKey: '' } } : {}),
    $push,
  } as UpdateFilter<UserDocument>;
}
