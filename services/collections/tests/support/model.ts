import { randomUUID } from 'node:crypto';
import type { Collection } from '@kith/contracts';
import fc from 'fast-check';
import { expect } from 'vitest';
import { type Acts, actsOf, type EntityList } from './acts.ts';
import type { World } from './world.ts';

interface Node {
  owner: number;
  parent: string | null;
  name: string;
  /** Ids of entities, oldest first. */
  entities: string[];
}

interface Step {
  /** Who acts: usually the owner of the target, sometimes the other user. */
  by: 'owner' | 'other';
  act: 'create' | 'rename' | 'delete' | 'add' | 'take';
  /** Picks a collection of either user, among all that ever existed. */
  target: number;
  name: string;
  entityId: string;
  /** Whether to remove the oldest entity instead of `entityId`. */
  oldest: boolean;
}

const entityIds = ['a', 'b', 'a|b'];
const step: fc.Arbitrary<Step> = fc.record({
  by: fc.constantFrom('owner', 'owner', 'owner', 'other'),
  act: fc.constantFrom('create', 'create', 'create', 'rename', 'delete', 'add', 'add', 'take', 'take'),
  target: fc.nat(30),
  name: fc.constantFrom('one', 'two', 'three'),
  entityId: fc.constantFrom(...entityIds),
  oldest: fc.boolean(),
});

/** The tree that the service has to show: all collections that exist, by their ids. */
class Model {
  readonly nodes = new Map<string, Node>();
  /** The id of every collection that ever existed. */
  readonly ids: string[] = [];
  readonly #owners = new Map<string, number>();

  put(id: string, node: Node): void {
    this.nodes.set(id, node);
    this.ids.push(id);
    this.#owners.set(id, node.owner);
  }

  /** Who made a collection, even if it is deleted by now. */
  ownerOf(id: string): number {
    return this.#owners.get(id) ?? 0;
  }

  own(id: string, owner: number): Node | undefined {
    const node = this.nodes.get(id);
    return node?.owner === owner ? node : undefined;
  }

  below(id: string): string[] {
    return [...this.nodes].filter(([, { parent }]) => parent === id).map(([child]) => child);
  }

  erase(id: string): void {
    for (const child of this.below(id)) this.erase(child);
    this.nodes.delete(id);
  }
}

/** Runs `numRuns` random sequences of steps, and compares the service with the model after each step. */
export async function agreeWithModel(world: World, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16, size: 'max' }), async (steps) => {
      const users = [actsOf(world, randomUUID()), actsOf(world, randomUUID())];
      const model = new Model();
      for (const [owner, user] of users.entries()) {
        model.put((await user.root()).id, { owner, parent: null, name: 'root', entities: [] });
      }
      for (const one of steps) {
        await take(model, users, one);
        await compare(model, users);
      }
    }),
    { numRuns, endOnFailure: true },
  );
}

/** Takes a step in the service and in the model. Both have to give the same answer. */
async function take(model: Model, users: readonly Acts[], { act, ...step }: Step): Promise<void> {
  const id = model.ids[step.target % model.ids.length] ?? '';
  const by = step.by === 'owner' ? model.ownerOf(id) : 1 - model.ownerOf(id);
  const user = users[by];
  const node = model.own(id, by);
  if (!user) throw new Error('no such user');
  if (act === 'create') {
    const answer = await user.create(id, step.name);
    expect(answer.status).toBe(node ? 201 : 400);
    if (!node) return;
    const made = answer.json as Collection;
    model.put(made.id, { owner: by, parent: id, name: step.name, entities: [] });
  } else if (act === 'rename' || act === 'delete') {
    const done = node && node.parent !== null;
    const answer = await (act === 'rename' ? user.rename(id, step.name) : user.remove(id));
    expect(answer.status).toBe(done ? (act === 'rename' ? 200 : 204) : 404);
    if (!done) return;
    if (act === 'rename') node.name = step.name;
    else model.erase(id);
  } else {
    const held = act === 'take' && step.oldest ? node?.entities[0] : undefined;
    const entityId = held ?? step.entityId;
    const answer = await (act === 'add' ? user.add(id, { entityId }) : user.take(id, entityId));
    expect(answer.status).toBe(node ? 200 : 404);
    if (!node) return;
    if (act === 'take') node.entities = node.entities.filter((one) => one !== entityId);
    else if (!node.entities.includes(entityId)) node.entities.push(entityId);
    expect(answer.json).toEqual({ success: true, collection: { id, entityCount: node.entities.length } });
  }
}

/** Compares everything that the two users can see with what the model expects. */
async function compare(model: Model, users: readonly Acts[]): Promise<void> {
  await Promise.all(
    model.ids.map(async (id) => {
      for (const [owner, user] of users.entries()) {
        const node = model.own(id, owner);
        const [children, entities] = await Promise.all([user.children(id), user.entities(id)]);
        expect([children.status, entities.status]).toEqual(node ? [200, 200] : [404, 404]);
        if (!node) continue;
        const shown = (children.json as Collection[]).map(({ id: child, ...one }) => [
          child,
          { owner, parent: one.parentId, name: one.name, count: one.entityCount },
        ]);
        const wanted = model.below(id).map((child) => {
          const { entities: held, ...rest } = model.nodes.get(child) ?? { entities: [] };
          return [child, { ...rest, count: held.length }];
        });
        expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(wanted));
        const { data, pagination } = entities.json as EntityList;
        expect(data.map((one) => one.id)).toEqual([...node.entities].reverse());
        expect(pagination.totalItems).toBe(node.entities.length);
      }
    }),
  );
  for (const [owner, user] of users.entries()) {
    for (const entityId of entityIds) {
      const wanted = [...model.nodes].filter(
        ([, node]) => node.owner === owner && node.entities.includes(entityId),
      );
      const homes = await user.homes(entityId);
      expect(homes.sort()).toEqual(wanted.map(([id]) => id).sort());
    }
  }
}
