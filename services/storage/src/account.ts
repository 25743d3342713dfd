import { untilMade } from '@kith/base';
import type { AppContext } from './app.ts';
import type { Owner } from './file.ts';
import type { Account } from './store/index.ts';
import { accountId } from './store/place.ts';

/**
 * Reads a user's account and lets `attempt` change it, again and again while it gives `false` because another change came first.
 * Throws what `attempt` throws, and what `untilMade` does.
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

/** Whether what is stored under an id is still its upload's. */
export function isNoted({ doc }: Account, id: string): boolean {
  return doc.loose.some(({ fileId, isDead }) => fileId === id && !isDead);
}
