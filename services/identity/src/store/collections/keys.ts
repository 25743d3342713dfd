import { StartError } from '@kith/base';
import { operatorScopes } from '@kith/contracts';
import { collection } from '@kith/store';
import { z } from 'zod';
import { placeOf } from '../../listing.ts';
import { lastIn, projectIn } from '../keys-of.ts';
import type { ApiKey, SigningKey } from '../records.ts';
import { type AsStored, text, time } from './stored.ts';

export type StoredApiKey = AsStored<ApiKey, 'id' | 'projectId'>;

export type StoredKey = AsStored<SigningKey, 'ordinal'>;

/**
 * Signing keys of access tokens. The id is the key's ordinal, padded with zeros so that the order of the ids is the order of
 * the ordinals.
 */
export const keys = collection<StoredKey>({
  name: 'keys',
  kind: 'target',
  version: 2,
  upgrade() {
    throw new StartError(
      'The signing keys in this database were written by an older version of Kith, and this version cannot read them. Start with an empty database, and import the data that you want to keep.',
    );
  },
  schema: z.object({
    kid: text,
    publicJwk: z.object({ n: text, e: text }),
    sealed: text,
    signsFrom: time,
    createdAt: time,
  }),
});

/** The key for keyed hashes, sealed and bound to its id. The collection holds a single key. */
export const hashKeys = collection<{ sealed: string }>({
  name: 'hashKeys',
  kind: 'target',
  silent: true,
  version: 1,
  schema: z.object({ sealed: text }),
});

/** Revoked signing keys, keyed by `kid`. */
export const revokedKeys = collection<{ at: number }>({
  name: 'revokedKeys',
  kind: 'copy',
  version: 1,
  schema: z.object({ at: time }),
});

/**
 * The keys that operators have made. The document of an operator key has the id `-|<key>`, and the document of a server key has
 * the id `<project>|<key>`.
 */
export const apiKeys = collection<StoredApiKey>({
  name: 'apiKeys',
  kind: 'target',
  version: 1,
  schema: z.object({
    hash: text,
    name: text,
    scopes: z.array(z.enum(operatorScopes)),
    projectIds: z.array(text).nullable(),
    expiresAt: time.nullable(),
    createdAt: time,
  }),
  indexes: {
    hash: { key: ({ hash }) => hash, unique: true },
    place: {
      key: ({ createdAt }, id) =>
        `${projectIn(id)}|${placeOf({ createdAt: new Date(createdAt), id: lastIn(id) })}`,
    },
  },
});

/**
 * When each key in `apiKeys` was last used, keyed by the id of the key. The time is stored here and not in the key, so that a
 * use does not change the key's document.
 */
export const keyUses = collection<{ at: number }>({
  name: 'keyUses',
  kind: 'copy',
  version: 1,
  schema: z.object({ at: time }),
});
