import type { AppContext } from './app.ts';

/**
 * Whether an e-mail address is taken: another user has it, or gave it up not long ago and may still take it back
 * (spec#accounts-old-address). On MongoDB, no write can check both and store a user. So this asks for the user first, and the
 * caller stores the address right after. Whoever gives up the address in between was found as its user. Only somebody who takes the
 * address and gives it up again in between would be missed, and that needs the token of a mail.
 * @param userId The user who wants the address; absent for a new user.
 */
export async function isAddressTaken(
  { store }: Pick<AppContext, 'store'>,
  { projectId, address, userId }: { projectId: string; address: string; userId?: string },
): Promise<boolean> {
  const holder = await store.users.findByEmail(projectId, address);
  if (holder) return holder.id !== userId;
  return store.mailings.isKept(projectId, address, new Date(), userId);
}
