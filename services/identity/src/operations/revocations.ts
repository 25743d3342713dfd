import { getRevocations } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { tokensEnd } from '../sessions.ts';
import { revokedPlace, suspendedPlace } from '../store/index.ts';
import { refusedUntil } from '../suspension.ts';

/** How many sessions a page may have. A page with more might not fit into a message of the bus (`maxPayload`). */
const mostSessions = 10_000;
/** How many suspended users a page may have. */
const mostUsers = 2_000;

/**
 * Returns the sessions, users and keys that gateways must refuse. A session or a user is returned until all tokens that were
 * issued before the revocation or suspension have expired. Only the first page has the revoked keys. `next` is the place of the
 * page's last session. If there are more users, `next` also contains a blank and the place of the page's last user. A replica
 * of an earlier version returns all users with the first page. If such a replica gets an `after` with two places, it returns
 * further sessions, but no users. In this case, the gateway gets the other users when it next loads the whole list.
 */
export const revocationsHandler = internalHandler(getRevocations, async ({ after }, app: AppContext) => {
  // All tokens that were issued before this time have expired.
  const since = new Date(2 * Date.now() - tokensEnd(new Date()).getTime());
  const first = `${revokedPlace(since)} ${suspendedPlace(since)}`;
  const [sessionPlace = '', userPlace] = (after ?? first).split(' ');
  const sessions = await app.store.sessions.revoked(sessionPlace, mostSessions);
  const suspended = userPlace === undefined ? [] : await app.store.accounts.suspended(userPlace, mostUsers);
  const moreUsers = suspended.length === mostUsers ? ` ${suspended.at(-1)?.place}` : '';
  const isLast = sessions.length < mostSessions && moreUsers === '';
  return {
    sessions: sessions.map(({ sid, at }) => ({ sessionId: sid, until: tokensEnd(at).toISOString() })),
    keys: after === null ? await app.store.keys.revoked() : [],
    suspended: suspended.map(({ userId, at, until }) => ({
      userId,
      until: refusedUntil(at, until).toISOString(),
    })),
    next: isLast ? null : `${sessions.at(-1)?.place ?? sessionPlace}${moreUsers}`,
  };
});
