import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { transaction } from '@kith/service';
import type { ListPage, ListRange } from '../listing.ts';
import type { Project, ProjectSettings, ProjectStore } from './index.ts';

interface ProjectRow {
  id: string;
  name: string;
  publicKey: string | null;
  limits: string;
  webOrigins: string;
  publicProfiles: number;
  publicConnections: number;
  createdAt: number;
  updatedAt: number;
}

const settable = ['name', 'publicKey', 'limits', 'webOrigins', 'publicProfiles', 'publicConnections'];
/** In the words of the index `projects_with_settings`: with others it would not be used. */
const hasSettings = `limits <> '{}' OR webOrigins <> '[]' OR publicProfiles = 0 OR publicConnections = 0`;
const fields = ['id', ...settable, 'createdAt', 'updatedAt'];

/** Projects on SQLite. */
export class SqliteProjects implements ProjectStore {
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #select: StatementSync;
  readonly #withSettings: StatementSync;
  readonly #count: StatementSync;
  readonly #page: StatementSync;

  constructor(db: DatabaseSync) {
    const values = fields.map((name) => `:${name}`).join(', ');
    const select = `SELECT ${fields.join(', ')} FROM projects`;
    this.#db = db;
    this.#insert = db.prepare(`INSERT INTO projects (${fields.join(', ')}) VALUES (${values})`);
    this.#update = db.prepare(
      `UPDATE projects SET ${[...settable, 'updatedAt'].map((name) => `${name} = :${name}`).join(', ')}
        WHERE id = :id`,
    );
    this.#select = db.prepare(`${select} WHERE id = ?`);
    this.#withSettings = db.prepare(`${select} WHERE (${hasSettings}) AND id > ? ORDER BY id LIMIT ?`);
    this.#count = db.prepare('SELECT count(*) AS total FROM projects');
    this.#page = db.prepare(`${select} WHERE place > ? ORDER BY place LIMIT ? OFFSET ?`);
  }

  async add(project: Project): Promise<void> {
    this.#insert.run(rowOf(project));
  }

  async find(id: string): Promise<Project | null> {
    return projectOf(this.#select.get(id));
  }

  async update(id: string, settings: Partial<ProjectSettings>, at: Date): Promise<Project | null> {
    return transaction(this.#db, () => {
      const before = projectOf(this.#select.get(id));
      if (!before) return null;
      const after = { ...before, ...settings, updatedAt: at };
      const { createdAt, ...change } = rowOf(after);
      this.#update.run(change);
      return after;
    });
  }

  async withSettings(after: string, limit: number): Promise<Project[]> {
    return this.#withSettings
      .all(after, limit)
      .map(projectOf)
      .filter((project) => project !== null);
  }

  async list({ from, limit }: ListRange): Promise<ListPage<Project>> {
    const { total } = this.#count.get() as { total: number };
    const skip = 'skip' in from ? from.skip : 0;
    if (skip >= total) return { rows: [], total };
    const rows = this.#page.all('after' in from ? from.after : '', limit, skip);
    return { rows: rows.map(projectOf).filter((project) => project !== null), total };
  }
}

function rowOf(project: Project) {
  return {
    id: project.id,
    name: project.name,
    publicKey: project.publicKey,
    limits: JSON.stringify(project.limits),
    webOrigins: JSON.stringify(project.webOrigins),
    publicProfiles: Number(project.publicProfiles),
    publicConnections: Number(project.publicConnections),
    createdAt: project.createdAt.getTime(),
    updatedAt: project.updatedAt.getTime(),
  };
}

function projectOf(found: object | undefined): Project | null {
  if (!found) return null;
  const row = found as ProjectRow;
  return {
    ...row,
    limits: JSON.parse(row.limits),
    webOrigins: JSON.parse(row.webOrigins),
    publicProfiles: row.publicProfiles === 1,
    publicConnections: row.publicConnections === 1,
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
  };
}
