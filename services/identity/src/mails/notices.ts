import type { Logger } from '@kith/base';
import type { IdentityStore } from '../store/index.ts';

const atOnce = 100;

/**
 * Stores a mail for each change of second factors that the user has not been told about. For changes from before the last
 * restore of the database, no mail is stored. If the process dies before it has recorded that the user was told, the user may
 * get a mail twice.
 */
export async function storeNotices({
  store,
  restoredAt,
  log,
}: {
  store: Pick<IdentityStore, 'factors' | 'mailings' | 'users'>;
  restoredAt: number;
  log: Logger;
}): Promise<void> {
  for (const { projectId, userId } of await store.factors.untold(atOnce)) {
    try {
      const user = await store.users.find(projectId, userId);
      const { notices = [] } = await store.factors.find({ projectId, userId });
      for (const { kind, at } of notices) {
        if (user?.email && at >= restoredAt) await store.mailings.add(user, { kind, address: user.email });
      }
      await store.factors.noteTold({ projectId, userId }, notices);
    } catch (error) {
      log.warn({ err: error, userId }, 'the mail about a change of second factors is not queued yet');
    }
  }
}
