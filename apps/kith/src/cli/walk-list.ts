import type { Answer } from '../demo/api.ts';
import { Failure } from './command.ts';
import type { PlatformAccess } from './platform-access.ts';

const most = 100;

interface Page<Row> {
  data: Row[];
  pagination: { hasMore: boolean };
}

/** The query of a `Link` to the next page (RFC 8288, spec#lists-link). */
const nextQuery = /^<(\?[^>]+)>; rel="next"$/;

/**
 * Reads a whole list of the operators' endpoints, page by page. It follows the cursors. So if rows are added or removed in the
 * meantime, no other row is missing or comes twice (spec#lists-cursor).
 */
export async function walkList<Row>(
  access: PlatformAccess,
  path: string,
  query: Record<string, string> = {},
): Promise<Row[]> {
  const rows: Row[] = [];
  let next: string | undefined = `?${new URLSearchParams({ ...query, limit: String(most) })}`;
  while (next !== undefined) {
    const { body, headers }: Answer<Page<Row>> = await access.get(path + next);
    rows.push(...body.data);
    next = nextQuery.exec(headers.get('link') ?? '')?.[1];
    // A proxy may have removed the header. Without this error, the list would be incomplete, and nobody would notice it.
    if (next === undefined && body.pagination.hasMore)
      throw new Failure('no-next-page', `The answer to GET ${path} has no Link header to its next page.`);
  }
  return rows;
}
