import { isKithError, type KithClient } from '@kith/client';

/** The outcome of an invitation. */
export type Outcome = 'sent' | 'known' | 'refused' | 'gone';

/**
 * Asks all users to connect, in the given order. Returns the outcome for each user. Rejects if a request fails for a reason
 * that is no `Outcome`.
 */
export async function invite(kith: KithClient, userIds: readonly string[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const userId of userIds) outcomes.push(await inviteOne(kith, userId));
  return outcomes;
}

async function inviteOne(kith: KithClient, userId: string): Promise<Outcome> {
  try {
    await kith.connections.request({ userId, message: 'Shall we connect?' });
    return 'sent';
  } catch (error) {
    if (isKithError(error, 'connection/already-connected', 'connection/request-pending')) return 'known';
    if (isKithError(error, 'connection/not-allowed', 'connection/request-declined')) return 'refused';
    if (isKithError(error, 'connection/user-not-found')) return 'gone';
    throw error;
  }
}
