import { isDeepStrictEqual } from 'node:util';
import type { BodyOf, updateUser } from '@kith/contracts';
import type { Profile } from './store/index.ts';

/** Profile fields as a request gives them. */
export type GivenProfile = BodyOf<typeof updateUser>;

const emptyProfile: Profile = {
  username: null,
  name: null,
  avatar: null,
  bio: null,
  location: null,
  birthdate: null,
  metadata: {},
};

/**
 * The profile after a change of the given fields. An absent field keeps its value, and null empties a field. Only profile
 * fields are read.
 */
export function withProfile(given: GivenProfile, before: Profile = emptyProfile): Profile {
  const after = (field: Exclude<keyof Profile, 'metadata'>) =>
    given[field] === undefined ? before[field] : given[field];
  return {
    username: after('username'),
    name: after('name'),
    avatar: after('avatar'),
    bio: after('bio'),
    location: after('location'),
    birthdate: after('birthdate'),
    metadata: given.metadata === undefined ? before.metadata : (given.metadata ?? {}),
  };
}

/** Returns whether a profile differs from the stored one. */
export function changesProfile(after: Profile, before: Profile): boolean {
  return (Object.keys(after) as (keyof Profile)[]).some(
    (field) => !isDeepStrictEqual(after[field], before[field]),
  );
}
