import { nextTurnBefore, Turns, untilMade } from '@kith/base';
import { type AuditRow, auditedUser, type EventEnvelope } from '@kith/contracts';
import type { Documents, Range, Stored } from '@kith/store';
import { type ListPage, type ListRange, placeBounds, placeOf } from '../listing.ts';
import { audits, type StoredAudit } from './collections/audits.ts';
import { lastIn, within } from './keys-of.ts';

/**
 * Which rows to read. In a row's `actor`, the id follows a colon. The filter's `actor` is compared with this id. If the row's
 * `actor` contains no id, the filter's `actor` is compared with all of it.
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
 * `counted`: the maximum number of rows that are counted for a list. `checked`: the maximum number of rows that are read for
 * the count, if no index covers the filter (spec#audit-total). `checked` is lower, because reading a whole row takes much
 * longer than counting it.
 */
const usualBounds = { counted: 10_000, checked: 2_000 };

/** The index that finds the rows, the prefix of its keys, and the check that each found row still needs. */
interface Plan {
  index: string | undefined;
  prefix: string;
  matches?: (row: AuditRow) => boolean;
}

/** The rows of a plan between two keys, to be read before the deadline (Unix ms). */
type Walk = Plan & Pick<Range, 'above' | 'below'> & { deadline: number };

/**
 * The audit log. A row changes only in two cases. Repeated failures are counted in one row, and the erasure of a user replaces
 * what identifies the user.
 */
export class Audits {
  readonly #documents: Documents;
  /** If several failures belong to the same row, this process counts them one after the other. */
  readonly #turns = new Turns();
  readonly #most: typeof usualBounds;

  constructor(documents: Documents, most = usualBounds) {
    this.#documents = documents;
    this.#most = most;
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
   * project of each row is checked. Each query reads a bounded number of rows.
   * @param range.deadline Unix ms. If it passes before the page is found, throws `DeadlinePassed`.
   */
  async list(
    filter: AuditFilter,
    { from, limit, deadline }: ListRange & { deadline: number },
  ): Promise<ListPage<ListedAudit>> {
    const { prefix, ...plan } = planOf(filter);
    const bounds = placeBounds(filter);
    const whole = {
      ...plan,
      prefix,
      above: `${prefix}${bounds.above}`,
      below: `${prefix}${bounds.below}`,
      deadline,
    };
    const page =
      'after' in from
        ? { ...whole, above: `${prefix}${from.after}`, skip: 0 }
        : { ...whole, skip: from.skip };
    const [counted, rows] = await Promise.all([this.#count(whole), this.#page({ ...page, limit })]);
    return { rows, ...counted };
  }

  /** Rows about a user, newest first: those that come after the place `after`. */
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

  async #count(walk: Walk): Promise<Pick<ListPage<ListedAudit>, 'total' | 'isPart'>> {
    const { index, above, below, matches } = walk;
    const { counted, checked } = this.#most;
    if (!matches) {
      const total = await this.#documents.count(audits, { above, below, limit: counted }, index);
      return { total, isPart: total === counted };
    }
    let looked = 0;
    let total = 0;
    for await (const some of this.#walk(walk, Math.min(batch, checked))) {
      looked += some.length;
      total += some.filter(matches).length;
      if (looked >= checked) break;
    }
    return { total, isPart: looked >= checked };
  }

  /** At most `limit` rows, after the first `skip` rows. */
  async #page({ skip, limit, ...walk }: Walk & { skip: number; limit: number }): Promise<ListedAudit[]> {
    const { index, prefix, below, matches, deadline } = walk;
    if (matches) {
      const rows: ListedAudit[] = [];
      let left = skip;
      for await (const some of this.#walk(walk, limit)) {
        const matching = some.filter(matches);
        rows.push(...matching.slice(left));
        if (rows.length >= limit) break;
        left = Math.max(left - matching.length, 0);
      }
      return rows.slice(0, limit);
    }
    // Skipping a row takes about as long as counting it. So one query skips at most as many rows as one query counts.
    const step = this.#most.counted;
    let { above } = walk;
    let left = skip;
    for (; left > step; left -= step) {
      const range = { above, below, skip: step - 1, limit: 1 };
      const [last] = await this.#documents.range(audits, range, index);
      if (!last) return [];
      above = `${prefix}${last.id}`;
      await nextTurnBefore(deadline);
    }
    return (await this.#documents.range(audits, { above, below, skip: left, limit }, index)).map(rowOf);
  }

  /**
   * Reads the rows of a range in batches. The first batch has `first` rows, and each further batch has ten times as many as the
   * one before, up to `batch`.
   */
  async *#walk(
    { index, prefix, above, below, deadline }: Walk,
    first: number,
  ): AsyncGenerator<ListedAudit[]> {
    for (let next = above, limit = first; ; limit = Math.min(10 * limit, batch)) {
      const some = await this.#documents.range(audits, { above: next, below, limit }, index);
      yield some.map(rowOf);
      const last = some.at(-1);
      if (!last || some.length < limit) return;
      await nextTurnBefore(deadline);
      next = `${prefix}${last.id}`;
    }
  }
}

/** The row as erasure leaves it: without anything that identifies the erased user. */
export function erased(row: AuditRow, hash: (text: string) => string): AuditRow {
  const anonymous = (text: string) => `erased:${hash(text)}`;
  if (!row.actor.startsWith('user:'))
    return { ...row, target: row.target?.startsWith('user:') ? anonymous(row.target) : row.target };
  // All these values are replaced by hashes. `target` is replaced, because the id of a session would lead to the user.
  // `requestId` is replaced, because clients choose it, so it may contain anything.
  return {
    ...row,
    actor: anonymous(row.actor),
    target: row.target && anonymous(row.target),
    ip: hash(`ip:${row.ip}`),
    requestId: hash(`request:${row.requestId}`),
  };
}

function planOf({ projectId, actor, action }: AuditFilter): Plan {
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
