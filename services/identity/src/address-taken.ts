import type { AppContext } from './app.ts';

/**
 * Whether an e-mail address is taken: another user has it, or gave it up not long ago and may still take it back
 * (spec#accounts-old-address). On MongoDB, no write can check both and store a user. So this function looks for the user first,
 * and the caller stores the address right after the call. A user who gives up the address after the first look was found by it.
 * Only a user who both takes the address and gives it up after the first look is missed. To take it, this user needs the token
 * of a mail.
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
