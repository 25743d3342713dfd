import type { PublicUser } from '@kith/contracts';
import type { RequestContext } from '../operations/context.ts';

/**
 * Gives what a request's caller sees of public users: without a token less than all, unless the project shows all
 * (spec#users-strangers). Whatever shows a user to whom it does not know passes the user through this.
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
