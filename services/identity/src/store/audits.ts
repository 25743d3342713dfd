import { Turns, untilMade } from '@kith/base';
import { type AuditRow, auditedUser, type EventEnvelope } from '@kith/contracts';
import type { Documents, Stored } from '@kith/store';
import { type ListPage, type ListRange, placeBounds, placeOf } from '../listing.ts';
import { audits, type StoredAudit } from './collections/audits.ts';
import { lastIn, within } from './keys-of.ts';

/**
 * Which rows to read. `actor` is compared with the id in a row's `actor`, which follows a colon, or with the whole `actor` if
 * it contains no id.
 */
export interface AuditFilter {
  projectId?: string | undefined;
  actor?: string | undefined;
  action?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

/** A row, with the time by which lists are sorted. */
export type ListedAudit = AuditRow & { createdAt: Date };

/** How many rows are read at a time. */
const batch = 1_000;

/**
 * The audit log. A row never changes, except that repeated failures are counted in it, and that the erasure of a user replaces
 * what identifies the user.
 */
export class Audits {
  readonly #documents: Documents;
  /** If several failures belong to the same row, this process counts them one after the other. */
  readonly #turns = new Turns();

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Stores a row, unless it is already stored. */
  async add(row: AuditRow): Promise<void> {
    await this.#documents.change([{ in: audits, target: placeIn(row), set: storedOf(row) }]);
  }

  /**
   * Counts a failure. Similar failures share one row. The first failure makes the row and publishes `event`. Throws as
   * `untilMade` does.
   */
  async fail(row: AuditRow, event: EventEnvelope): Promise<void> {
    const id = placeIn(row);
    const attempt = async () => {
      const found = (await this.#documents.get(audits, [id])).get(id);
      const set = found ? { ...found.doc, count: found.doc.count + 1 } : storedOf(row);
      const events = found ? [] : [event];
      const [outcome] = await this.#documents.change([{ in: audits, target: found ?? id, set, events }]);
      return outcome === 'made' ? { result: undefined } : undefined;
    };
    await untilMade(attempt, { inTurn: (work, until) => this.#turns.run([id], work, { until }) });
  }

  /**
   * Rows, newest first. If no index covers all conditions of the filter, the conditions that the index does not cover are
   * checked row by row. For example, if the filter names an actor and a project, an index finds the rows of the actor, and the
   * project of each row is checked.
   */
  async list(filter: AuditFilter, { from, limit }: ListRange): Promise<ListPage<ListedAudit>> {
    const { index, prefix, matches } = planOf(filter);
    const bounds = placeBounds(filter);
    const whole = { above: `${prefix}${bounds.above}`, below: `${prefix}${bounds.below}` };
    const range = 'after' in from ? { ...whole, above: `${prefix}${from.after}` } : whole;
    const skip = 'skip' in from ? from.skip : 0;
    if (!matches) {
      const [total, found] = await Promise.all([
        this.#documents.count(audits, whole, index),
        this.#documents.range(audits, { ...range, skip, limit }, index),
      ]);
      return { rows: found.map(rowOf), total };
    }
    const all: ListedAudit[] = [];
    for await (const some of this.#walk(whole, { index, prefix }))
      all.push(...some.map(rowOf).filter(matches));
    const rest = 'after' in from ? all.filter((row) => placeOf(row) > from.after) : all.slice(skip);
    return { rows: rest.slice(0, limit), total: all.length };
  }

  /** Rows about a user after the place `after`, newest first. */
  async about(
    { projectId, userId }: { projectId: string; userId: string },
    { after, limit }: { after: string; limit: number },
  ): Promise<ListedAudit[]> {
    const { above, below } = within(projectId, userId);
    const found = await this.#documents.range(audits, { above: `${above}${after}`, below, limit }, 'user');
    return found.map(rowOf);
  }

  /** Removes everything that identifies a user from the rows about the user. Idempotent (spec#audit-unchanged). */
  async erase(
    { projectId, userId }: { projectId: string; userId: string },
    hash: (text: string) => string,
  ): Promise<void> {
    for (;;) {
      const found = await this.#documents.range(
        audits,
        { ...within(projectId, userId), limit: batch },
        'user',
      );
      const changes = found.map((one) => ({
        in: audits,
        target: one,
        set: storedOf(erased(rowOf(one), hash)),
        erases: true,
      }));
      if (changes.length > 0) await this.#documents.change(changes);
      if (found.length < batch) return;
    }
  }

  async *#walk(
    { above, below }: { above: string; below: string },
    { index, prefix }: { index: string | undefined; prefix: string },
  ): AsyncGenerator<Stored<StoredAudit>[]> {
    for (let next: string | undefined = above; next !== undefined; ) {
      const range = { above: next, below, limit: batch };
      const some: Stored<StoredAudit>[] = await this.#documents.range(audits, range, index);
      yield some;
      next = some.length === batch ? `${prefix}${some.at(-1)?.id}` : undefined;
    }
  }
}

/** The row as erasure leaves it: without anything that identifies the erased user. */
export function erased(row: AuditRow, hash: (text: string) => string): AuditRow {
  const anonymous = (text: string) => `erased:${hash(text)}`;
  if (!row.actor.startsWith('user:'))
    return { ...row, target: row.target?.startsWith('user:') ? anonymous(row.target) : row.target };
  // All these values are replaced by hashes. This includes `target`, because the id of a session would lead to the user, and
  // `requestId`, because clients choose it, so it may contain anything.
  return {
    ...row,
    actor: anonymous(row.actor),
    target: row.target && anonymous(row.target),
    ip: hash(`ip:${row.ip}`),
    requestId: hash(`request:${row.requestId}`),
  };
}

/** The index that finds the rows, the prefix of its keys, and the check that each found row still needs. */
function planOf({ projectId, actor, action }: AuditFilter): {
  index: string | undefined;
  prefix: string;
  matches?: (row: AuditRow) => boolean;
} {
  if (actor !== undefined) {
    const found = { index: 'actor', prefix: `${actor}|` };
    if (projectId === undefined && action === undefined) return found;
    return {
      ...found,
      matches: (row) =>
        (projectId === undefined || row.projectId === projectId) &&
        (action === undefined || row.action === action),
    };
  }
  if (projectId !== undefined && action !== undefined)
    return { index: 'projectAction', prefix: `${projectId}|${action}|` };
  if (projectId !== undefined) return { index: 'project', prefix: `${projectId}|` };
  if (action !== undefined) return { index: 'action', prefix: `${action}|` };
  return { index: undefined, prefix: '' };
}

function placeIn({ at, id }: AuditRow): string {
  return placeOf({ createdAt: new Date(at), id });
}

function storedOf({ id: _, at, ...row }: AuditRow): StoredAudit {
  return { ...row, at: Date.parse(at), user: auditedUser(row) };
}

function rowOf({ id, doc }: Stored<StoredAudit>): ListedAudit {
  const { at, user: _, ...row } = doc;
  const createdAt = new Date(at);
  return { id: lastIn(id), at: createdAt.toISOString(), ...row, createdAt };
}
