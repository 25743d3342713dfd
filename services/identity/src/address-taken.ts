import type { AppContext } from './app.ts';

/**
 * Whether an e-mail address is taken: a user has it, or gave it up not long ago and may still take it back
 * (spec#accounts-old-address). On MongoDB, no write can check both and store a user. So this asks for the user first, and the
 * caller stores the address right after. Whoever gives up the address in between was found as its user. Only somebody who takes the
 * address and gives it up again in between would be missed, and that needs the token of a mail.
 * @param userId A user who may take the address back.
 */
export async function isAddressTaken(
  { store }: Pick<AppContext, 'store'>,
  { projectId, address, userId }: { projectId: string; address: string; userId?: string },
): Promise<boolean> {
  if (await store.users.findByEmail(projectId, address)) return true;
  return store.mailings.isKept(projectId, address, new Date(), userId);
}
