import type { PublicUser } from '@kith/contracts';
import { fold } from '@kith/service';

/** What a user is found by, folded; empty where the user has none. */
export interface SearchKeys {
  username: string;
  name: string;
}

/** Makes what a user is found by (SPEC B3). */
export function searchKeysOf({ username, name }: PublicUser): SearchKeys {
  return { username: fold(username ?? ''), name: fold(name ?? '') };
}
