import { untilMade } from '@kith/base';
import type { AppContext } from './app.ts';
import type { Owner } from './file.ts';
import type { Account } from './store/index.ts';
import { accountId } from './store/place.ts';

/**
 * Reads a user's account and calls `attempt` to change it. If `attempt` returns `false`, another change came first. Then this
 * function reads the account and calls `attempt` again. Throws whatever `attempt` and `untilMade` throw.
 */
export function changeAccount(
  app: Pick<AppContext, 'store' | 'turns'>,
  owner: Owner,
  attempt: (account: Account) => Promise<boolean>,
  { deadline }: { deadline?: number } = {},
): Promise<void> {
  const make = async () => {
    const made = await attempt(await app.store.account(owner));
    return made ? { result: undefined } : undefined;
  };
  return app.turns.run([accountId(owner)], () => untilMade(make, { deadline }));
}

/** Whether the account still has the note of this upload, and nobody has given up the upload's bytes. */
export function isNoted({ doc }: Account, id: string): boolean {
  return doc.loose.some(({ fileId, isDead }) => fileId === id && !isDead);
}
