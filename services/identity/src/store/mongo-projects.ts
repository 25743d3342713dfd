import type { Collection, Db, Filter, IndexDescription } from 'mongodb';
import { type ListPage, type ListRange, placeOf } from '../listing.ts';
import type { Project, ProjectSettings, ProjectStore } from './index.ts';

interface ProjectDocument extends Omit<Project, 'id' | 'limits'> {
  _id: string;
  /** Where it stands in the list of projects. */
  place: string;
  /** JSON: its keys hold dots. */
  limits: string;
}

export const projectIndexes: readonly IndexDescription[] = [{ name: 'place', key: { place: 1 } }];

const hasSettings: Filter<ProjectDocument>[] = [
  { limits: { $ne: '{}' } },
  { 'webOrigins.0': { $exists: true } },
  { publicProfiles: false },
  { publicConnections: false },
];

/** Projects on MongoDB. */
export class MongoProjects implements ProjectStore {
  readonly #projects: Collection<ProjectDocument>;

  constructor(db: Db) {
    this.#projects = db.collection('projects');
  }

  async add(project: Project): Promise<void> {
    const { id, limits, ...rest } = project;
    await this.#projects.insertOne({
      _id: id,
      ...rest,
      limits: JSON.stringify(limits),
      place: placeOf(project),
    });
  }

  async find(id: string): Promise<Project | null> {
    return projectOf(await this.#projects.findOne({ _id: id }));
  }

  async update(id: string, settings: Partial<ProjectSettings>, at: Date): Promise<Project | null> {
    const { limits, ...rest } = settings;
    const change = { ...rest, ...(limits ? { limits: JSON.stringify(limits) } : {}), updatedAt: at };
    return projectOf(
      await this.#projects.findOneAndUpdate({ _id: id }, { $set: change }, { returnDocument: 'after' }),
    );
  }

  async withSettings(after: string, limit: number): Promise<Project[]> {
    const found = await this.#projects
      .find({ _id: { $gt: after }, $or: hasSettings }, { sort: { _id: 1 }, limit })
      .toArray();
    return found.map(projectOf).filter((project) => project !== null);
  }

  async list({ from, limit }: ListRange): Promise<ListPage<Project>> {
    const total = await this.#projects.countDocuments();
    const skip = 'skip' in from ? from.skip : 0;
    if (skip >= total) return { rows: [], total };
    const filter = { place: { $gt: 'after' in from ? from.after : '' } };
    const found = await this.#projects.find(filter, { sort: { place: 1 }, skip, limit }).toArray();
    return { rows: found.map(projectOf).filter((project) => project !== null), total };
  }
}

function projectOf(document: ProjectDocument | null): Project | null {
  if (!document) return null;
  const { _id, place, limits, ...project } = document;
  return { id: _id, ...project, limits: JSON.parse(limits) };
}
