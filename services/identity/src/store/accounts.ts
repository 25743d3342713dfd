import type { EventEnvelope, EventOf, sessionRevoked } from '@kith/contracts';
import type { User } from './index.ts';

export type RevocationReason = EventOf<typeof sessionRevoked>['data']['reason'];

/** Sessions of a user that its last change made outdated, and that may not all be revoked yet. */
export interface Ending {
  projectId: string;
  userId: string;
  epoch: number;
  reason: RevocationReason;
}

/** What of a user concerns signing in. A change that ends sessions is one write; they are revoked after it. */
export interface AccountStore {
  /**
   * Stores `passwordHash`, `isActive`, `suspendedAt`, `sessionEpoch`, `keptSession`, `updatedAt`, `rev` and `seq`, with
   * the event where there is one, if `rev` is one above the stored one; else it is `stale`. With `ending` the user
   * stays among `endings` until `ended`.
   */
  update(
    user: User,
    change: { event: EventEnvelope | null; ending: RevocationReason | null },
  ): Promise<'stored' | 'stale'>;
  endings(limit: number): Promise<Ending[]>;
  /** Notes that an ending's sessions are revoked, unless another has come after it. */
  ended(ending: Ending): Promise<void>;
  /** Who was suspended since `since` and still is. */
  suspendedSince(since: Date): Promise<{ userId: string; at: Date }[]>;
}
