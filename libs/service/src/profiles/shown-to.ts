import type { PublicUser } from '@kith/contracts';
import type { RequestContext } from '../operations/context.ts';

/**
 * Returns a function that reduces a public user to what the caller of a request may see. A caller without a token sees less,
 * unless the project shows everything (spec#users-strangers). Code that may show a user to an unknown caller must use this
 * function.
 */
export function shownTo({
  caller,
  seesAll,
}: Pick<RequestContext, 'caller' | 'seesAll'>): (user: PublicUser) => PublicUser {
  return caller || seesAll ? (user) => user : cardOf;
}

function cardOf(user: PublicUser): PublicUser {
  return { ...user, foreignId: null, birthdate: null, location: null, metadata: {} };
}
