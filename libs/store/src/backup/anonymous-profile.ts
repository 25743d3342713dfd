import type { AnyStored } from './any-stored.ts';
import type { MadeUp } from './made-up.ts';

/** A service's copy of a public user, as its owner makes that one up. */
export function anonymousProfile(stored: AnyStored, made: MadeUp): AnyStored {
  const { id, doc } = made.mapped(stored);
  return { id, doc: doc.user ? { ...doc, user: made.user(doc.user) } : doc };
}
