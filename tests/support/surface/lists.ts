import type { OperationSpec, OutputOf } from '@kith/contracts';
import { expect } from 'vitest';
import { fieldsOf } from './outcomes.ts';
import type { SurfaceWorld } from './suite.ts';
import type { Given } from './surface.ts';

interface Paged {
  page?: number;
  pageSize?: number;
  totalPages?: number;
  totalItems?: number;
  hasMore?: boolean;
  currentPage?: number;
  totalCount?: number;
  hasNextPage?: boolean;
  hasPreviousPage?: boolean;
  limit?: number;
}

/**
 * Walks a list of at least two rows by page and by cursor, with one row per page. Both ways must return the rows in the order
 * of the whole list. Checks that the `pagination` of the body and the header `Link` agree, and that bad pages and cursors are
 * refused (spec#lists-cursor, spec#lists-cursor-body).
 */
export async function walksList<O extends OperationSpec>(
  world: SurfaceWorld,
  spec: O,
  given: Given,
  list: { rows: (body: OutputOf<O>) => readonly unknown[]; max: number },
): Promise<void> {
  const ask = (query: string) =>
    world.ok(spec, { ...given, query: [given.query, query].filter(Boolean).join('&') });
  const hasPages = 'page' in spec.query.shape;
  const whole = await ask('');
  const all = list.rows(whole.body);
  expect(all.length).toBeGreaterThan(1);
  expect(whole.headers.link).toBeUndefined();

  let query = `${given.query ? `${given.query}&` : ''}limit=1`;
  for (const [index, row] of all.entries()) {
    const byCursor = await world.ok(spec, { ...given, query });
    expect(list.rows(byCursor.body)).toEqual([row]);
    const isLast = index === all.length - 1;
    if (hasPages) {
      expectPagination(byCursor.body, { page: index + 1, limit: 1, total: all.length, isLast });
      const byPage = await ask(`limit=1&page=${index + 1}`);
      expect(byPage.body).toEqual(byCursor.body);
      expect('link' in byPage.headers).toBe(!isLast);
    }
    const next = /^<\?([^>]+)>; rel="next"$/.exec(byCursor.headers.link ?? '')?.[1];
    expect(next === undefined).toBe(isLast);
    query = next ?? '';
    if (next === undefined) continue;
    const kept = new URLSearchParams(next);
    expect([...new URLSearchParams(given.query)].every(([name, value]) => kept.get(name) === value)).toBe(
      true,
    );
    expect(kept.get('limit')).toBe('1');
  }
  const most = await ask(`limit=${list.max + 1}`);
  expect(list.rows(most.body)).toEqual(all);
  if (hasPages) {
    expectPagination(most.body, { page: 1, limit: list.max, total: all.length, isLast: true });
    const past = await ask('page=99999999999999999999&limit=1');
    expect(list.rows(past.body)).toEqual([]);
    expect(past.headers.link).toBeUndefined();
  }
  await refusesBadPlaces(world, spec, given);
}

/** Checks that invalid sizes, pages and cursors are refused, and that each refusal names the parameter. */
async function refusesBadPlaces(world: SurfaceWorld, spec: OperationSpec, given: Given): Promise<void> {
  const code = `${spec.feature}/invalid-query` as const;
  for (const field of fieldsOf(spec.query).filter((one) => one === 'page' || one === 'limit')) {
    for (const value of ['0', '-1', '1.5', 'x', '']) {
      await world.refused(spec, { ...given, query: `${field}=${value}` }, code, { field });
    }
  }
  for (const cursor of ['', 'nonsense', Buffer.from('{"k":"x","n":1,"b":"y"}').toString('base64url')]) {
    await world.refused(spec, { ...given, query: `cursor=${cursor}` }, code, { field: 'cursor' });
  }
}

function expectPagination(
  body: unknown,
  of: { page: number; limit: number; total: number; isLast: boolean },
): void {
  const { pagination } = body as { pagination: Paged };
  const { page, limit, total, isLast } = of;
  const totalPages = Math.ceil(total / limit);
  const general = { page, pageSize: limit, totalPages, totalItems: total, hasMore: !isLast };
  const ofConnections = {
    currentPage: page,
    totalPages,
    totalCount: total,
    hasNextPage: !isLast,
    hasPreviousPage: page > 1,
    limit,
  };
  const isOfConnections = pagination.currentPage !== undefined;
  const isBoth = isOfConnections && pagination.page !== undefined;
  const wanted = isBoth ? { ...ofConnections, ...general } : isOfConnections ? ofConnections : general;
  expect(pagination).toEqual(wanted);
}
