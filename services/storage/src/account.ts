import { answerableUntil, untilMade } from '@kith/base';
import type { AppContext } from './app.ts';
import type { Owner } from './file.ts';
import type { Account } from './store/index.ts';
import { accountId } from './store/place.ts';

/** When to give up a change of an account: at a deadline, or when a signal is aborted. */
export interface Wanted {
  /**
   * When to stop trying, in Unix ms. Without a deadline, the change waits for its turn as long as necessary, and is then tried
   * for a few seconds.
   */
  deadline?: number | undefined;
  /** If this signal is aborted before the change is made, the change is not made. */
  signal?: AbortSignal | undefined;
}

/** Tries to change an account. Resolves with `false` if another change came first. */
export type AccountChange = (account: Account) => Promise<boolean>;

/**
 * Reads a user's account and calls `attempt` to change it. If `attempt` resolves with `false`, because another change came
 * first, reads the account and calls `attempt` again. In one process, changes of the same account run one after the other. If
 * the deadline passes while this change waits for its turn, `attempt` is not called at all. Throws the errors of `attempt`,
 * `untilMade` and `Turns.run`.
 */
export function changeAccount(
  app: Pick<AppContext, 'store' | 'turns'>,
  owner: Owner,
  attempt: AccountChange,
  { deadline, signal }: Wanted = {},
): Promise<void> {
  const make = async () => {
    signal?.throwIfAborted();
    const made = await attempt(await app.store.account(owner));
    return made ? { result: undefined } : undefined;
  };
  const until = deadline === undefined ? undefined : answerableUntil(deadline);
  return app.turns.run([accountId(owner)], () => untilMade(make, { deadline }), { until, signal });
}

/**
 * Whether the bytes of this upload may still become a file. For this, the account must contain the upload's note, and the
 * upload must not be marked as given up.
 */
export function isNoted({ doc }: Account, id: string): boolean {
  return doc.loose.some(({ fileId, isDead }) => fileId === id && !isDead);
}
