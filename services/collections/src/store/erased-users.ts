import type { Documents } from '@kith/store';
import type { Owner } from '../collection.ts';
import { erased } from './collections.ts';
import { walk } from './walk.ts';

/** Which users were erased lately. */
export class ErasedUsers {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Marks a user until a time (Unix ms). */
  async mark({ projectId, userId }: Owner, until: number): Promise<void> {
    const id = `${projectId}|${userId}`;
    await this.#documents.keep(erased, [{ id, doc: { until }, epoch: 0, version: until }]);
  }

  /** Those whose mark has not run out. */
  async marked(now: number): Promise<Owner[]> {
    const owners: Owner[] = [];
    for await (const { id, doc } of walk(this.#documents, erased, { above: '', below: '~' })) {
      const [projectId = '', userId = ''] = id.split('|');
      if (doc.until >= now) owners.push({ projectId, userId });
    }
    return owners;
  }
}
