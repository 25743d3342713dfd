import { ApiError, untilMade } from '@kith/base';
import type { AppContext } from './app.ts';
import type { Owner } from './file.ts';
import type { Account } from './store/index.ts';
import { accountId } from './store/place.ts';

export type { Account };

/**
 * Reads a user's account and lets `attempt` change it, again and again while it gives `false` because another change came first.
 * With `isLeft` it is first given as this process has left it, where that is known: it is only to make changes of that, which notice
 * what has come in between. Throws what `attempt` throws of one that was read, and what `untilMade` does.
 */
export function changeAccount(
  app: Pick<AppContext, 'store' | 'turns'>,
  owner: Owner,
  attempt: (account: Account) => Promise<boolean>,
  { deadline, isLeft = false }: { deadline?: number; isLeft?: boolean } = {},
): Promise<void> {
  const make = async () => {
    const left = isLeft ? app.store.leftAccount(owner) : undefined;
    const made =
      (left && (await attempt(left).catch(refuseLater))) || (await attempt(await app.store.account(owner)));
    return made ? { result: undefined } : undefined;
  };
  return app.turns.run([accountId(owner)], () => untilMade(make, { deadline }));
}

/** What is refused may be so for what another process has changed since: that is to be read. */
function refuseLater(error: unknown): false {
  if (!(error instanceof ApiError)) throw error;
  return false;
}

/** Whether what is stored under an id is still its upload's. */
export function isNoted({ doc }: Account, id: string): boolean {
  return doc.loose.some(({ fileId, isDead }) => fileId === id && !isDead);
}
