import type { Documents, Stored } from '@kith/store';
import type { ListPage, ListRange } from '../listing.ts';
import { projects, type StoredProject } from './collections.ts';
import { everything } from './keys-of.ts';
import type { Project, ProjectSettings } from './records.ts';

/** The projects, with their settings. */
export class Projects {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  async add({ id, ...project }: Project): Promise<void> {
    const [createdAt, updatedAt] = [project.createdAt.getTime(), project.updatedAt.getTime()];
    const set = { ...project, createdAt, updatedAt };
    const [outcome] = await this.#documents.change([{ in: projects, target: id, set }]);
    if (outcome !== 'made') throw new Error(`There is a project with the new id ${id}.`);
  }

  async find(id: string): Promise<Project | null> {
    const found = (await this.#documents.get(projects, [id])).get(id);
    return found ? projectOf(found) : null;
  }

  /** Stores what is given of the settings, and `updatedAt`; gives the project as it is then. */
  async update(id: string, settings: Partial<ProjectSettings>, at: Date): Promise<Project | null> {
    for (;;) {
      const target = (await this.#documents.get(projects, [id])).get(id);
      if (!target) return null;
      const set = { ...target.doc, ...settings, updatedAt: at.getTime() };
      const [outcome] = await this.#documents.change([{ in: projects, target, set }]);
      if (outcome === 'made') return projectOf({ id, doc: set });
    }
  }

  /**
   * Projects after an id, by id, that have limits or web origins of their own, or something that is not public: the
   * settings that gateways go by.
   */
  async withSettings(after: string, limit: number): Promise<Project[]> {
    const range = { ...everything, above: after, limit };
    return (await this.#documents.range(projects, range, 'settings')).map(projectOf);
  }

  /** All projects, newest first. */
  async list({ from, limit }: ListRange): Promise<ListPage<Project>> {
    const above = 'after' in from ? from.after : '';
    const skip = 'skip' in from ? from.skip : 0;
    const [total, rows] = await Promise.all([
      this.#documents.count(projects, everything, 'place'),
      this.#documents.range(projects, { ...everything, above, skip, limit }, 'place'),
    ]);
    return { rows: rows.map(projectOf), total };
  }
}

function projectOf({ id, doc }: Stored<StoredProject>): Project {
  return { ...doc, id, createdAt: new Date(doc.createdAt), updatedAt: new Date(doc.updatedAt) };
}
