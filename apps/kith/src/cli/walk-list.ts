import type { PlatformAccess } from './platform-access.ts';

const most = 100;

interface Page<Row> {
  data: Row[];
  pagination: { hasMore: boolean };
}

/** Reads a whole list of the operators' endpoints, page by page. */
export async function walkList<Row>(
  access: PlatformAccess,
  path: string,
  query: Record<string, string> = {},
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let page = 1; ; page++) {
    const parameters = new URLSearchParams({ ...query, limit: String(most), page: String(page) });
    const { data, pagination } = await access.call<Page<Row>>('GET', `${path}?${parameters}`);
    rows.push(...data);
    if (!pagination.hasMore) return rows;
  }
}
