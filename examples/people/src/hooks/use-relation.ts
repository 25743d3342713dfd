import type { Methods } from '@kith/client';
import { announce } from '../lib/changes.ts';
import type { Person } from '../lib/people.ts';
import { useAction } from './use-action.ts';
import { useKith } from './use-kith.ts';
import { type Query, useQuery } from './use-query.ts';

/** The relation between the signed-in user and another user. */
export type Relation = Methods['connections.getStatus']['output'];

/** Loads the relation between the signed-in user and another user, if it is not `known` yet. */
export function useRelation(userId: string, known?: Relation): Query<Relation> {
  const kith = useKith();
  const asked = useQuery(known ? undefined : userId, 'connections', (signal) =>
    kith.connections.getStatus({ userId }, { signal }),
  );
  return known ? { data: known, error: undefined } : asked;
}

/** Actions on the relation to a person. Each action announces the change to all components that show the relation. */
export function useRelationActions({ id: userId }: Person) {
  const { connections } = useKith();
  const { run, isBusy } = useAction(async (act: () => Promise<unknown>) => {
    try {
      await act();
    } finally {
      // Announces a change even if the action was refused, because a refusal usually means that the page shows an old relation.
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
