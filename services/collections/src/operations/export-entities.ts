import { exportEntities } from '@kith/contracts';
import { exportPage, internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import type { CollectionRecord, Owner } from '../collection.ts';
import { type EntityRecord, toSavedEntity } from '../entity.ts';
import { entityPosition } from '../store/entity-place.ts';
import { placeInTree } from '../store/place.ts';

/** Maximum number of collections that are read for one page. Each collection costs a query, even if it holds few entities. */
const collectionsAtOnce = 50;

/** Where a page ended: after a collection, or in the middle of a collection. */
interface Position {
  collection: string;
  within?: { id: string; entity: string };
}

interface Row {
  collection: CollectionRecord;
  entity: EntityRecord;
}

/**
 * Returns a page of the entities in a user's collections for an export. The entities are grouped by collection. Within a
 * collection, the oldest entity comes first.
 */
export const exportEntitiesHandler = internalHandler(exportEntities, async (body, app: AppContext) => {
  const { projectId, userId, limit } = body;
  const from: Position = body.after === null ? { collection: '' } : JSON.parse(body.after);
  const { rows, next } = await readRows(app, { projectId, userId }, from, limit + 1);
  const page = exportPage(rows, { limit, show: toItem, position: positionOf });
  return { items: page.items, next: page.next ?? next };
});

function toItem({ collection, entity }: Row) {
  const { isSaved: _, ...saved } = toSavedEntity(entity);
  return { ...saved, collectionId: collection.id };
}

function positionOf({ collection, entity }: Row): string {
  const within = { id: collection.id, entity: entityPosition(entity) };
  return JSON.stringify({ collection: placeInTree(collection), within } satisfies Position);
}

/**
 * Reads at most `limit` rows after a position. It may return fewer rows even if more rows follow, because it reads only
 * `collectionsAtOnce` collections. `next` is the position from which to continue. At the end, `next` is null.
 */
async function readRows(
  app: AppContext,
  owner: Owner,
  from: Position,
  limit: number,
): Promise<{ rows: Row[]; next: string | null }> {
  const begun = from.within ? await app.store.find(owner, from.within.id) : null;
  const { collections, next } = await app.store.all(owner, {
    after: from.collection,
    limit: collectionsAtOnce,
  });
  const rows: Row[] = [];
  for (const collection of begun ? [begun, ...collections] : collections) {
    if (rows.length === limit) break;
    if (collection.entityCount === 0) continue;
    const after = collection === begun ? (from.within?.entity ?? '') : '';
    const range = { from: { after }, limit: limit - rows.length, newestFirst: false };
    for (const entity of await app.store.entities(collection, range)) rows.push({ collection, entity });
  }
  return { rows, next: next === null ? null : JSON.stringify({ collection: next } satisfies Position) };
}
