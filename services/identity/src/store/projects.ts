import { untilMade } from '@kith/base';
import { eraseProject } from '@kith/service';
import { type Documents, replyCollection, type Stored } from '@kith/store';
import { type ListPage, type ListRange, placeOf } from '../listing.ts';
import { resetRequests, sentMails } from './collections/mails.ts';
import {
  deletedProjects,
  deletingProjects,
  hashKinds,
  projects,
  type StoredProject,
} from './collections/projects.ts';
import { endedUsers, erasedExternals, users } from './collections/users.ts';
import { everything, within } from './keys-of.ts';
import { type Project, type ProjectSettings, usualExternalAge } from './records.ts';

/** A project that is being deleted, with its last settings. */
export interface DeletingProject {
  project: Project;
  since: Date;
}

/** The projects, with their settings. */
export class Projects {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  async add({ id, ...project }: Project): Promise<void> {
    const [createdAt, updatedAt] = [project.createdAt.getTime(), project.updatedAt.getTime()];
    const set = { ...project, ...storedProfiles(project), createdAt, updatedAt };
    const [outcome] = await this.#documents.change([{ in: projects, target: id, set }]);
    if (outcome !== 'made') throw new Error(`There is a project with the new id ${id}.`);
  }

  async find(id: string): Promise<Project | null> {
    const found = (await this.#documents.get(projects, [id])).get(id);
    return found ? projectOf(found) : null;
  }

  /** Stores the given settings and `updatedAt`; returns the changed project. Throws as `untilMade` does. */
  update(
    id: string,
    settings: Partial<ProjectSettings>,
    at: Date,
    deadline?: number,
  ): Promise<Project | null> {
    const attempt = async () => {
      const target = (await this.#documents.get(projects, [id])).get(id);
      if (!target) return { result: null };
      const { publicProfiles } = { ...projectOf(target), ...settings };
      const profiles = storedProfiles({ publicProfiles });
      const set = { ...target.doc, ...settings, ...profiles, updatedAt: at.getTime() };
      const [outcome] = await this.#documents.change([{ in: projects, target, set }]);
      return outcome === 'made' ? { result: projectOf({ id, doc: set }) } : undefined;
    };
    return untilMade(attempt, { deadline });
  }

  /** Projects that have settings for gateways and whose ids come after `after`, sorted by id. */
  async withSettings(after: string, limit: number): Promise<Project[]> {
    const range = { ...everything, above: after, limit };
    return (await this.#documents.range(projects, range, 'settings')).map(projectOf);
  }

  /**
   * Deletes a project. Afterwards, no other method returns it as an existing project. Returns `false` if there is no such
   * project. The data of the project must be erased afterwards. Throws as `untilMade` does.
   */
  remove(id: string, at: Date, deadline?: number): Promise<boolean> {
    const attempt = async () => {
      const target = (await this.#documents.get(projects, [id])).get(id);
      if (!target) return { result: false };
      const put = { project: target.doc, since: at.getTime() };
      const rows = [{ in: deletingProjects, id, put }];
      const [outcome] = await this.#documents.change([{ in: projects, target, set: null, rows }]);
      return outcome === 'made' ? { result: true } : undefined;
    };
    return untilMade(attempt, { deadline });
  }

  /** Some of the projects that are being deleted. */
  async deleting(limit: number): Promise<DeletingProject[]> {
    return (await this.#documents.range(deletingProjects, { ...everything, limit })).map(deletingOf);
  }

  /** A project that is being deleted, and how many users are left in it. */
  async findDeleting(id: string): Promise<(DeletingProject & { usersLeft: number }) | null> {
    // On MongoDB, the row in `deletingProjects` is written only after the project's document is deleted. So `settle` first
    // completes the changes of the projects.
    await this.#documents.settle(projects, everything);
    const found = (await this.#documents.get(deletingProjects, [id])).get(id);
    if (!found) return null;
    return { ...deletingOf(found), usersLeft: await this.#documents.count(users, within(id)) };
  }

  /** Ids of deleted projects that come after the id `after`, sorted. Projects that are still being deleted are included. */
  async deletedAfter(after: string, limit: number): Promise<string[]> {
    // As in `findDeleting`: otherwise a project whose deletion was cut off would be in no list.
    await this.#documents.settle(projects, everything);
    const range = { ...everything, above: after, limit };
    const found = await Promise.all([
      this.#documents.range(deletingProjects, range),
      this.#documents.range(deletedProjects, range),
    ]);
    const ids = new Set(found.flat().map(({ id }) => id));
    return [...ids].sort().slice(0, limit);
  }

  /** Erases the rest of a deleted project after its users are gone. Only the id of the project stays. Idempotent. */
  async forget(id: string, at: Date): Promise<void> {
    await this.#documents.keep(deletedProjects, [{ id, doc: { at: at.getTime() }, epoch: 0, version: 1 }]);
    await eraseProject(this.#documents, id, {
      awaited: [],
      cleared: [endedUsers, erasedExternals, resetRequests, sentMails, replyCollection],
    });
    await this.#documents.erase(hashKinds, id);
    // Clears the row in `deletingProjects` only after the document in `projects` is erased. Before that, the row could still be
    // written again: if a process died during the deletion, another process makes this write later.
    if (await this.#documents.erase(projects, id)) await this.#documents.clearIds(deletingProjects, [id]);
  }

  /** All projects, or only those whose ids are in `only`, newest first. */
  async list({ from, limit }: ListRange, only: readonly string[] | null = null): Promise<ListPage<Project>> {
    const above = 'after' in from ? from.after : '';
    const skip = 'skip' in from ? from.skip : 0;
    if (only) {
      const found = [...(await this.#documents.get(projects, only)).values()].map(projectOf);
      const places = new Map(found.map((project) => [placeOf(project), project]));
      const rest = [...places.keys()].sort().filter((place) => place > above);
      const rows = rest.slice(skip, skip + limit).flatMap((place) => places.get(place) ?? []);
      return { rows, total: found.length };
    }
    const [total, rows] = await Promise.all([
      this.#documents.count(projects, everything, 'place'),
      this.#documents.range(projects, { ...everything, above, skip, limit }, 'place'),
    ]);
    return { rows: rows.map(projectOf), total };
  }
}

function deletingOf({ id, doc }: Stored<{ project: StoredProject; since: number }>): DeletingProject {
  return { project: projectOf({ id, doc: doc.project }), since: new Date(doc.since) };
}

function projectOf({ id, doc: { wholeProfiles, ...doc } }: Stored<StoredProject>): Project {
  // These settings are missing in projects that an older version of Kith has stored.
  const before = { signUp: 'open', requireVerifiedEmail: false, mailLinkBase: null, mailTexts: {} } as const;
  const shown = wholeProfiles ? 'all' : 'card';
  return {
    ...before,
    ...doc,
    externalTokenMaxAge: doc.externalTokenMaxAge ?? usualExternalAge,
    publicProfiles: doc.publicProfiles ? shown : 'none',
    id,
    createdAt: new Date(doc.createdAt),
    updatedAt: new Date(doc.updatedAt),
  };
}

function storedProfiles({ publicProfiles }: Pick<Project, 'publicProfiles'>) {
  return { publicProfiles: publicProfiles !== 'none', wholeProfiles: publicProfiles === 'all' };
}
