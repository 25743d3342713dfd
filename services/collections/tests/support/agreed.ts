import type { Collection } from '@kith/contracts';
import { expect } from 'vitest';
import type { Acts, EntityList } from './acts.ts';

/** The ids of the entities that the tests of entities use. */
export const entityIds = Array.from({ length: 12 }, (_, index) => `entity ${index}`);

/** Expects that a collection's count, its list and the look-ups of its entities agree. Returns the collection's entities. */
export async function agreed(user: Acts, id: string): Promise<string[]> {
  const walked = await user.walk(id);
  const { pagination } = (await user.entities(id)).json as EntityList;
  const children = (await user.children((await user.root()).id)).json as Collection[];
  expect(pagination.totalItems).toBe(walked.length);
  expect(children.find((child) => child.id === id)?.entityCount).toBe(walked.length);
  expect(new Set(walked).size).toBe(walked.length);
  for (const entityId of entityIds) {
    expect((await user.homes(entityId)).includes(id)).toBe(walked.includes(entityId));
  }
  return walked;
}
