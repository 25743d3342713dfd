import { randomUUID } from 'node:crypto';
import { type Documents, type Reply, replyCollection } from '@kith/store';
import { box, boxes, declared, things, told, totals } from './shelf.ts';

export const declaredWithReplies = {
  ...declared,
  collections: [...declared.collections, replyCollection],
};

/**
 * The work of a request. It makes a new box for a key, with all that follows from the box, and a second box that the first box
 * needs.
 */
export async function makeBoxes(documents: Documents, key: string): Promise<string> {
  const id = `${key}-${randomUUID()}`;
  const set = box({ owner: key, things: 1 });
  await documents.change([
    {
      ...{ in: boxes, target: id, set },
      rows: [{ in: things, id: `${id}|1`, put: { at: 1 } }],
      counters: [{ in: totals, id: key, add: { boxes: 1 } }],
      events: [told(id, set)],
    },
  ]);
  await documents.change([{ in: boxes, target: `${id}-lid`, set: box({ owner: `${key}-lids` }) }]);
  return id;
}

export function answered(text: string, expiresAt = Date.now() + 60_000): Reply {
  return { user: 'p|ann', mac: 'mac', sealed: text, expiresAt };
}
