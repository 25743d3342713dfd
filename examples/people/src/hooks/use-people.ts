import type { PublicUser } from '@kith/client';
import { useKith } from './use-kith.ts';
import { type Query, useQuery } from './use-query.ts';
import { useUser } from './use-session.ts';

/** Other people whose name contains `query`. While `query` is empty, nobody is found. */
export function usePeopleSearch(query: string): Query<PublicUser[]> {
  const kith = useKith();
  const { id: ownId } = useUser();
  // The search belongs to the topic `connections`, because blocks belong to this topic, and a block removes people from the
  // results.
  return useQuery(query || undefined, 'connections', async (signal) => {
    const people = await kith.users.suggest({ query }, { signal });
    return people.filter(({ id }) => id !== ownId);
  });
}

/** One person's profile. */
export function usePerson(userId: string): Query<PublicUser> {
  const kith = useKith();
  return useQuery(userId, 'profiles', (signal) => kith.users.get({ userId }, { signal }));
}

/** How many people somebody is connected with. */
export function useConnectionCount(userId: string): Query<{ count: number }> {
  const kith = useKith();
  return useQuery(userId, 'connections', (signal) => kith.connections.countOfUser({ userId }, { signal }));
}
