import { type MovedRow, movedEvents, movedFacts, type ServiceMove } from '@kith/service';
import { placeOf } from '../listing.ts';
import { openStore } from './index.ts';
import { documentOf, idOf } from './mongo-user-document.ts';
import { userFields, userOf } from './sqlite-users.ts';

/** A date, from a column that may be empty. */
const date = (ms: number | null) => (ms === null ? null : new Date(ms));

/** Identity's data on its way to the distributed form. */
export const identityMove: ServiceMove = {
  service: 'identity',
  tables: [
    {
      table: 'projects',
      key: ['id'],
      collection: 'projects',
      document({ id, place, limits, webOrigins, publicProfiles, publicConnections, ...row }) {
        return {
          ...row,
          _id: id,
          place,
          limits,
          webOrigins: JSON.parse(webOrigins),
          publicProfiles: publicProfiles === 1,
          publicConnections: publicConnections === 1,
          createdAt: date(row.createdAt),
          updatedAt: date(row.updatedAt),
        };
      },
    },
    {
      table: 'users',
      key: ['projectId', 'id'],
      collection: 'users',
      document(row) {
        const own = Object.fromEntries(userFields.map((field) => [field, row[field]]));
        const user = userOf(own);
        if (!user) throw new Error('A user can not be read.');
        const { endingReason } = row;
        return {
          ...documentOf(user),
          ...(endingReason === null ? {} : { endingAt: user.updatedAt, endingReason }),
        };
      },
    },
    {
      table: 'deleted_users',
      key: ['projectId', 'id'],
      collection: 'users',
      document: ({ projectId, id, seq, deletedAt }) => ({
        _id: idOf(projectId, id),
        projectId,
        userId: id,
        rev: seq,
        seq,
        deletedAt: date(deletedAt),
      }),
    },
    {
      table: 'ended_users',
      key: ['projectId', 'id'],
      collection: 'endedUsers',
      document: ({ projectId, id, until }) => ({ _id: idOf(projectId, id), expireAt: date(until) }),
    },
    { table: 'sessions', key: ['projectId', 'userId', 'place'], collection: 'sessions', document: sessionOf },
    {
      table: 'keys',
      key: ['ordinal'],
      collection: 'keys',
      document: ({ ordinal, kid, privateJwk, signsFrom, createdAt }) => ({
        _id: ordinal,
        privateJwk,
        kid,
        signsFrom: date(signsFrom),
        createdAt: date(createdAt),
      }),
    },
    {
      table: 'revoked_keys',
      key: ['kid'],
      collection: 'revokedKeys',
      document: ({ kid, at }) => ({ _id: kid, at: date(at) }),
    },
    {
      table: 'blocks',
      key: ['key'],
      collection: 'blocks',
      document: ({ key, otherId, isBlocked, seq }) => ({
        _id: key,
        otherId,
        isBlocked: isBlocked === 1,
        seq,
      }),
    },
    {
      table: 'hash_kinds',
      key: ['projectId', 'kind'],
      collection: 'hashKinds',
      document: ({ projectId, kind }) => ({ _id: `${projectId}|${kind}`, projectId, kind }),
    },
    movedEvents,
    movedFacts,
  ],
  async prepare(config) {
    await (await openStore(config)).close();
  },
};

function sessionOf(row: MovedRow) {
  const {
    projectId,
    userId,
    sid,
    rotatedHash,
    rotatedSealed,
    rotatedAt,
    revokedAt,
    revokedPlace,
    expiresAt,
  } = row;
  const createdAt = new Date(row.createdAt);
  const isRotated = rotatedHash !== null && rotatedSealed !== null && rotatedAt !== null;
  return {
    _id: `${projectId}|${userId}|${placeOf({ createdAt, id: sid })}`,
    sid,
    projectId,
    userId,
    familyHash: row.familyHash,
    tokenHash: row.tokenHash,
    rotated: isRotated ? { hash: rotatedHash, sealed: rotatedSealed, at: new Date(rotatedAt) } : null,
    epoch: row.epoch,
    createdAt,
    lastUsedAt: date(row.lastUsedAt),
    userAgent: row.userAgent,
    ip: row.ip,
    revokedAt: date(revokedAt),
    ...(revokedAt === null ? { expiresAt: date(expiresAt) } : { purgeAt: date(expiresAt), revokedPlace }),
  };
}
