import { ApiError, untilMade } from '@kith/base';
import type { Caller } from '@kith/service';
import type { AppContext } from './app.ts';
import { type CollectionRecord, ownerOf, toCounted } from './collection.ts';
import { type EntityChange, entityEvent } from './entity.ts';

interface ChangeRequest {
  projectId: string;
  caller: Caller;
  params: { collectionId: string };
  deadline: number;
}

/**
 * Reads one of the caller's collections and calls `attempt` to change it. If `attempt` returns `null`, another change came
 * first. Then this function reads the collection and calls `attempt` again. If several changes of the same collection repeat
 * their attempts in one process, they run one after the other. Throws `collection/not-found` and the errors of `untilMade`.
 */
export async function changeCollection<T extends object>(
  request: ChangeRequest,
  app: AppContext,
  attempt: (current: CollectionRecord) => Promise<T | null>,
): Promise<T> {
  const owner = ownerOf(request);
  const { collectionId } = request.params;
  const key = `${owner.projectId}|${owner.userId}|${collectionId}`;
  const make = async () => {
    const current = await app.store.find(owner, collectionId);
    if (!current) throw new ApiError('collection/not-found');
    const result = await attempt(current);
    return result ? { result } : undefined;
  };
  const inTurn = (work: () => Promise<T>, until: number) => app.turns.run([key], work, { until });
  return untilMade(make, { deadline: request.deadline, inTurn });
}

/**
 * Stores the addition or the removal of an entity, and returns the answer. Returns `null` if another change of the collection
 * came first.
 */
export async function changeEntity(
  app: AppContext,
  records: { before: CollectionRecord; after: CollectionRecord },
  change: EntityChange,
): Promise<ReturnType<typeof toCounted> | null> {
  const { before, after } = records;
  if (!(await app.store.changeEntity(before, after, change, entityEvent(after, change)))) return null;
  app.relay.kick();
  return toCounted(after);
}

/**
 * Returns the answer to a request that finds nothing to change. Returns `null` if the collection has changed since it was read.
 * The entity was read after the collection, so it may belong to a newer state of the collection.
 */
export async function unchanged(
  app: AppContext,
  before: CollectionRecord,
): Promise<ReturnType<typeof toCounted> | null> {
  const now = await app.store.find(before, before.id);
  // Both numbers are compared, because an import changes the count but not `seq`.
  return now?.seq === before.seq && now.entityCount === before.entityCount ? toCounted(now) : null;
}
