import { Key } from './key.ts';
import type { Person, Scene } from './person.ts';

const things = Array.from({ length: 12 }, (_, index) => `thing-${index}`);

/** A collection of a person. The crowd makes, renames, fills, empties and deletes this collection, and then makes it again. */
export class Folder extends Key {
  readonly scene: Scene;
  readonly owner: Person;
  readonly rootId: string;
  id: string | undefined;
  name = '';
  readonly saved = new Set<string>();
  /**
   * Set if it is not known whether the last request had an effect. `name` is the name that this request sets. `thing` is the
   * thing that this request saves or removes.
   */
  #unsure: { name?: string; thing?: string } | undefined;

  constructor(scene: Scene, owner: Person, rootId: string) {
    super();
    this.scene = scene;
    this.owner = owner;
    this.rootId = rootId;
  }

  async act(): Promise<void> {
    if (this.unsureUntil !== undefined) return this.learn();
    if (!this.id) return this.#create();
    const chance = this.scene.random();
    if (chance < 0.35) return this.learn();
    if (chance < 0.4) return this.#delete();
    if (chance < 0.6) return this.#rename();
    return this.#turn();
  }

  async #create(): Promise<void> {
    const name = this.scene.name();
    const path = `/collections/${this.rootId}/sub-collections`;
    const answer = await this.#ask('POST', path, { name }, { collectionName: name });
    if (answer.isOk) this.#begin(answer.body.id, name);
  }

  async #delete(): Promise<void> {
    const answer = await this.#ask('DELETE', `/collections/${this.id}`, {});
    if (answer.isOk) this.#end();
  }

  async #rename(): Promise<void> {
    const name = this.scene.name();
    const answer = await this.#ask('PATCH', `/collections/${this.id}`, { name }, { name }, true);
    if (answer.isOk) this.name = name;
  }

  /** Saves a new thing in the collection, or removes a saved thing. */
  async #turn(): Promise<void> {
    const thing = things[Math.floor(this.scene.random() * things.length)] as string;
    const path = `/collections/${this.id}/entities`;
    const isIn = this.saved.has(thing);
    const answer = isIn
      ? await this.#ask('DELETE', `${path}/${thing}`, { thing }, undefined, true)
      : await this.#ask('POST', path, { thing }, { entityId: thing }, true);
    if (!answer.isOk) return;
    if (isIn) this.saved.delete(thing);
    else this.saved.add(thing);
    const { entityCount } = answer.body.collection;
    if (entityCount !== this.saved.size) {
      this.scene.record().wrong.push(`a collection counts ${entityCount} entities, not ${this.saved.size}`);
    }
  }

  async #ask(
    method: string,
    path: string,
    unsure: { name?: string; thing?: string },
    body?: unknown,
    isRepeatable = false,
  ) {
    const { ask, record } = this.scene;
    const token = this.owner.accessToken;
    let answer = await ask('collections', method, path, { token, body });
    if (answer.status === 0 && isRepeatable) answer = await ask('collections', method, path, { token, body });
    if (answer.isOk) record().acknowledged += 1;
    else if (!answer.isCertain) {
      this.#unsure = unsure;
      this.beUnsure();
    } else if (answer.status !== 503) {
      record().wrong.push(`${method} of a collection: ${answer.status} ${answer.body?.code}`);
    }
    return answer;
  }

  #begin(id: string, name: string): void {
    this.id = id;
    this.name = name;
    this.saved.clear();
  }

  #end(): void {
    this.id = undefined;
    this.saved.clear();
  }

  /** Reads the collection, but does not compare it with its expected state. */
  async read(): Promise<void> {
    const token = this.owner.accessToken;
    await this.scene.ask('collections', 'GET', `/collections/${this.rootId}/sub-collections`, { token });
  }

  /**
   * Reads the collection. If it is not known whether the last change was made, finds this out. Then compares the collection
   * with its expected state.
   */
  async learn(): Promise<void> {
    const { ask, record } = this.scene;
    const token = this.owner.accessToken;
    const isUnsure = this.unsureUntil !== undefined;
    const list = await ask('collections', 'GET', `/collections/${this.rootId}/sub-collections`, { token });
    if (!list.isOk) return;
    const rows: { id: string; name: string; entityCount: number }[] = list.body;
    const made = this.#unsure?.name;
    const row = rows.find(({ id, name }) => id === this.id || (!this.id && isUnsure && name === made));
    if (isUnsure) {
      if (!row) this.#end();
      else if (row.id !== this.id) this.#begin(row.id, row.name);
      if (row?.name === made) this.name = row?.name ?? '';
      const { thing } = this.#unsure ?? {};
      if (row && thing) {
        const saved = await ask('collections', 'GET', `/entities/is-entity-saved?entityId=${thing}`, {
          token,
        });
        if (!saved.isOk) return;
        const isIn = saved.body.collections.some(({ id }: { id: string }) => id === this.id);
        if (isIn) this.saved.add(thing);
        else this.saved.delete(thing);
      }
      this.unsureUntil = undefined;
      this.#unsure = undefined;
    }
    const found = row && `${row.name} with ${row.entityCount}`;
    const known = this.id && `${this.name} with ${this.saved.size}`;
    if (found !== known) record().wrong.push(`a collection is ${found}, not ${known}`);
  }
}
