import { publicUser } from '@kith/contracts';
import type { AnyStored } from './any-stored.ts';
import type { MadeUp } from './made-up.ts';

/** The fields of a public user. A copy from an earlier version may lack some of them. */
const knownFields = publicUser.partial();

/** Anonymises a service's copy of a public user, in the same way as the service that owns the user. */
export function anonymousProfile(stored: AnyStored, made: MadeUp): AnyStored {
  const { id, doc } = made.mapped(stored);
  return { id, doc: doc.user ? { ...doc, user: knownFields.parse(made.user(doc.user)) } : doc };
}
