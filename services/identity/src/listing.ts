import { decodeCursor, encodeCursor, foreignCursor } from '@kith/base';
import type { ErrorCode } from '@kith/contracts';
import type { OperatorCaller } from '@kith/service';

/** Which rows of a list to read: those after the first `skip` rows, or those after the place `after`. */
export interface ListRange {
  from: { skip: number } | { after: string };
  /** The maximum number of rows to read. */
  limit: number;
}

/** Rows of a list, newest first; `total` is the number of all rows in the list. */
export interface ListPage<Row> {
  rows: Row[];
  total: number;
  /** Whether only a part of the list was counted. The list then has at least `total` rows. */
  isPart?: boolean;
}

const lastMs = 9_999_999_999_999;
const placePattern = /^\d{13}\|[0-9a-f-]{36}$/;

/**
 * A row's place in a list, as a text. If the places are sorted as text, the newest row comes first, and rows with the same time
 * are sorted by id. For this, the time in a place always has the same number of digits.
 */
export function placeOf(row: { createdAt: Date; id: string }): string {
  return `${backwards(row.createdAt)}|${row.id}`;
}

/** The range that contains the places of all rows that were created at `from` or later, and before `to`. */
export function placeBounds({ from, to }: { from?: Date | undefined; to?: Date | undefined }): {
  above: string;
  below: string;
} {
  // `}` is the character after `|`. So `<time>}` sorts directly after all places that begin with `<time>|`. Newer places sort
  // first. So rows that were created exactly at `from` are in the range, and rows that were created exactly at `to` are not.
  return { above: to ? `${backwards(to)}}` : '', below: from ? `${backwards(from)}}` : '~' };
}

function backwards(time: Date): string {
  // If the time is too early or too late for 13 digits, the nearest time that fits is used. Only a filter can contain such a
  // time; no row has one.
  return String(Math.min(Math.max(lastMs - time.getTime(), 0), lastMs)).padStart(13, '0');
}

export interface ListRequest {
  query: { page: number; limit: number; cursor?: string | undefined };
  /**
   * Set if an operator reads the list. The list's cursors are then valid only for this operator (spec#lists-cursor-binding).
   */
  operator?: OperatorCaller | undefined;
  linkNext(cursor: string): void;
}

/**
 * Reads one page of a list by number or by cursor, and links to the next page (spec#lists-cursor). If the cursor belongs to
 * another list, throws `code` with `field: "cursor"`.
 */
export async function readPage<Row extends { createdAt: Date; id: string }>(
  request: ListRequest,
  list: {
    binding: readonly string[];
    code: ErrorCode;
    read(range: ListRange): Promise<ListPage<Row>>;
    /**
     * How many of the rows fit into an answer, counted from the first row. By default, all rows fit. The next page begins with
     * the first row that did not fit.
     */
    fitting?(rows: readonly Row[]): number;
  },
): Promise<{ rows: Row[]; page: number; limit: number; total: number; hasMore: boolean }> {
  const { query, operator } = request;
  const { limit, cursor } = query;
  const binding = operator ? [...list.binding, operator.keyId ?? 'OPERATOR_TOKEN'] : list.binding;
  const position = cursor === undefined ? undefined : decodeCursor(cursor, binding, list.code);
  if (position && !placePattern.test(position.after)) {
    throw foreignCursor(list.code);
  }
  const page = position?.page ?? query.page;
  // The pages before a cursor may have had another length, so the cursor contains the number of their rows. Cursors of earlier
  // versions lack this number.
  const before = position ? (position.before ?? 0) : (page - 1) * limit;
  const from = position ? { after: position.after } : { skip: before };
  // Reads one row more than the page holds, to know whether another page follows.
  const { rows: found, total: counted, isPart } = await list.read({ from, limit: limit + 1 });
  // The list has at least the rows before this page and the rows that were just read, even if fewer rows were counted.
  const total = isPart && found.length > 0 ? Math.max(counted, before + found.length) : counted;
  const asked = found.slice(0, limit);
  const rows = asked.slice(0, list.fitting?.(asked));
  const hasMore = found.length > rows.length;
  const last = rows.at(-1);
  if (hasMore && last) {
    const next = { after: placeOf(last), page: page + 1, before: before + rows.length };
    request.linkNext(encodeCursor(next, binding));
  }
  return { rows, page, limit, total, hasMore };
}
