import type { AppContext } from './app.ts';

/**
 * The id of the other user to whom an e-mail address belongs. This user has the address, or gave it up recently and may still
 * take it back (spec#accounts-old-address). Null if the address is free. On MongoDB, no single write can check both conditions
 * and store a user. So this function first looks for a user with the address, and then for a user who may take it back. The
 * caller stores the address right after the call. If a user gives up the address between the two checks, the first check has
 * already found this user. Both checks miss a user only if the user takes the address after the first check and gives it up
 * before the second. This hardly ever happens, because the user needs the token of a mail to take the address.
 * @param userId The user who wants the address; absent for a new user.
 */
export async function ownerOfAddress(
  { store }: Pick<AppContext, 'store'>,
  { projectId, address, userId }: { projectId: string; address: string; userId?: string },
): Promise<string | null> {
  const holder = await store.users.findByEmail(projectId, address);
  if (holder) return holder.id === userId ? null : holder.id;
  return store.mailings.keeperOf(projectId, address, new Date(), userId);
}
