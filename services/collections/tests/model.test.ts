import { randomUUID } from 'node:crypto';
import type { Collection } from '@kith/contracts';
import { availableEngines, testEffort } from '@kith/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Acts, actsOf, type EntityList } from './support/acts.ts';
import { startWorld, type World } from './support/world.ts';

interface Node {
  owner: number;
  parent: string | null;
  name: string;
  /** Ids of entities, oldest first. */
  entities: string[];
}

interface Step {
  user: number;
  act: 'create' | 'rename' | 'delete' | 'add' | 'take';
  /** Picks among all collections there ever were, of either user. */
  target: number;
  name: string;
  entityId: string;
}

const entityIds = ['a', 'b', 'a|b'];
const step: fc.Arbitrary<Step> = fc.record({
  user: fc.nat(1),
  act: fc.constantFrom('create', 'create', 'create', 'rename', 'delete', 'add', 'add', 'take'),
  target: fc.nat(30),
  name: fc.constantFrom('one', 'two', 'three'),
  entityId: fc.constantFrom(...entityIds),
});

/** The tree as it has to be: what is there, by id. */
class Model {
  readonly nodes = new Map<string, Node>();
  /** Every id there ever was. */
  readonly ids: string[] = [];

  put(id: string, node: Node): void {
    this.nodes.set(id, node);
    this.ids.push(id);
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

describe.each(availableEngines())('the tree and a model of it (%s)', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine, { instances: 2 });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  /** Takes a step through the service and in the model; both have to answer the same. */
  async function take(model: Model, users: readonly Acts[], { act, ...step }: Step): Promise<void> {
    const user = users[step.user];
    const id = model.ids[step.target % model.ids.length] ?? '';
    const node = model.own(id, step.user);
    if (!user) throw new Error('no such user');
    if (act === 'create') {
      const answer = await user.create(id, step.name);
      expect(answer.status).toBe(node ? 201 : 400);
      if (!node) return;
      const made = answer.json as Collection;
      model.put(made.id, { owner: step.user, parent: id, name: step.name, entities: [] });
    } else if (act === 'rename' || act === 'delete') {
      const done = node && node.parent !== null;
      const answer = await (act === 'rename' ? user.rename(id, step.name) : user.remove(id));
      expect(answer.status).toBe(done ? (act === 'rename' ? 200 : 204) : 404);
      if (!done) return;
      if (act === 'rename') node.name = step.name;
      else model.erase(id);
    } else {
      const { entityId } = step;
      const answer = await (act === 'add' ? user.add(id, { entityId }) : user.take(id, entityId));
      expect(answer.status).toBe(node ? 200 : 404);
      if (!node) return;
      if (act === 'take') node.entities = node.entities.filter((one) => one !== entityId);
      else if (!node.entities.includes(entityId)) node.entities.push(entityId);
      expect(answer.json).toEqual({ success: true, collection: { id, entityCount: node.entities.length } });
    }
  }

  /** Compares all that either user can see with the model. */
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

  test('agree after every step', { timeout: 180_000 * testEffort() }, async () => {
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
      { numRuns: (engine === 'embedded' ? 250 : 12) * testEffort(), endOnFailure: true },
    );
  });
});
