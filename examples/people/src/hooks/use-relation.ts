import type { Methods } from '@kith/client';
import { announce } from '../lib/changes.ts';
import type { Person } from '../lib/people.ts';
import { useAction } from './use-action.ts';
import { useKith } from './use-kith.ts';
import { type Query, useQuery } from './use-query.ts';

/** How the signed-in user and another one stand. */
export type Relation = Methods['connections.getStatus']['output'];

/** Asks how the signed-in user and another one stand, unless that is known. */
export function useRelation(userId: string, known?: Relation): Query<Relation> {
  const kith = useKith();
  const asked = useQuery(known ? undefined : userId, 'connections', (signal) =>
    kith.connections.getStatus({ userId }, { signal }),
  );
  return known ? { data: known, error: undefined } : asked;
}

/** What can be done about the relation to a person. Each tells all that show it. */
export function useRelationActions({ id: userId }: Person) {
  const { connections } = useKith();
  const { run, isBusy } = useAction(async (act: () => Promise<unknown>) => {
    try {
      await act();
    } finally {
      // Also after a refusal: then it stands otherwise than was shown.
      announce('connections');
      announce('notifications');
    }
  });
  return {
    isBusy,
    connect: (message: string) => run(() => connections.request({ userId, ...(message && { message }) })),
    accept: (connectionId: string) => run(() => connections.accept({ connectionId })),
    decline: (connectionId: string) => run(() => connections.decline({ connectionId })),
    /** Withdraws a request, or ends a connection. */
    end: (connectionId: string) => run(() => connections.delete({ connectionId })),
    block: () => run(() => connections.block({ userId })),
    unblock: () => run(() => connections.unblock({ userId })),
  };
}
