import { randomUUID } from 'node:crypto';
import { DeadlinePassed, encodeCursor } from '@kith/base';
import type { AuditRow } from '@kith/contracts';
import type { Documents } from '@kith/store';
import { openDocuments } from '@kith/store/open';
import { createStore, handlerEngines } from '@kith/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { placeOf, readPage } from '../src/listing.ts';
import { type AuditFilter, Audits } from '../src/store/audits.ts';
import { declared } from '../src/store/collections.ts';

describe.each(handlerEngines())('the list of the audit log in the store on %s', (engine) => {
  const undo = new AsyncDisposableStack();
  let documents: Documents;
  /** A log that counts at most 8 rows. */
  let audits: Audits;
  const [busy, calm, projectId, otherId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const rowOf = (nth: number, fields: Partial<AuditRow> = {}): AuditRow => ({
    ...{ id: randomUUID(), at: new Date(1_800_000_000_000 - nth * 1_000).toISOString() },
    ...{ actor: `server-key:${busy}`, projectId: nth % 2 === 0 ? projectId : otherId, target: null },
    ...{ action: 'identity.some', ip: '192.0.2.1', requestId: 'r', outcome: 'success', count: 1 },
    ...fields,
  });
  // Newest first. Every second row of the busy actor is in the project.
  const all = [
    ...Array.from({ length: 60 }, (_, nth) => rowOf(nth)),
    ...[60, 61].map((nth) => rowOf(nth, { actor: `user:${calm}`, action: 'identity.other' })),
  ];

  beforeAll(async () => {
    const { config } = undo.use(await createStore(engine));
    documents = await openDocuments(config, declared);
    undo.defer(() => documents.close());
    audits = new Audits(documents, { counted: 8, checked: 8 });
    await Promise.all(all.map((row) => audits.add(row)));
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => undo.disposeAsync());

  const list = async (
    filter: AuditFilter,
    query: { page?: number; limit?: number; cursor?: string | undefined },
    deadline = Date.now() + 10_000,
  ) => {
    let next: string | undefined;
    const linkNext = (cursor: string) => {
      next = cursor;
    };
    const { rows, ...found } = await readPage(
      { query: { page: 1, limit: 20, ...query }, linkNext },
      {
        binding: ['audit'],
        code: 'auth/invalid-query',
        read: (range) => audits.list(filter, { ...range, deadline }),
      },
    );
    return { next, answer: { ...found, rows: rows.map(({ createdAt: _, ...row }) => row) } };
  };

  test.each([
    ['all rows', {}, all, [21, 41, 61, 62]],
    ['an action with few rows', { action: 'identity.other' }, all.slice(60), [2]],
    [
      'an actor in a project',
      { actor: busy, projectId },
      all.slice(0, 60).filter((_, nth) => nth % 2 === 0),
      [21, 30],
    ],
    ['an actor with few rows in a project', { actor: calm, projectId }, all.slice(60, 61), [1]],
  ])(
    'has the same pages by number and by cursor, and a total that includes at least the rows of the page (%s)',
    async (_, filter, expected, totals) => {
      let cursor: string | undefined;
      for (const [index, total] of totals.entries()) {
        const page = index + 1;
        const { next, answer } = await list(filter, { cursor });
        const rows = expected.slice(20 * index, 20 * page);
        const hasMore = expected.length > 20 * page;
        expect(answer).toEqual({ rows, page, limit: 20, total, hasMore });
        expect((await list(filter, { page })).answer).toEqual(answer);
        expect(next === undefined).toBe(!hasMore);
        cursor = next;
      }
      const past = await list(filter, { page: Number.MAX_SAFE_INTEGER });
      expect(past.answer).toMatchObject({ rows: [], hasMore: false });
      expect(past.answer.total).toBeLessThanOrEqual(8);
    },
  );

  test('counts no more rows than allowed', async () => {
    expect((await list({}, { limit: 3 })).answer.total).toBe(8);
    expect((await list({ actor: busy, projectId }, { limit: 1 })).answer.total).toBe(4);
  });

  test('counts the rows of the pages before a cursor, even if these pages had another length', async () => {
    const { next: cursor } = await list({}, { limit: 10 });
    const longer = await list({}, { limit: 40, cursor });
    expect(longer.answer).toMatchObject({ rows: all.slice(10, 50), total: 51, hasMore: true });
    const shorter = await list({}, { limit: 5, cursor: longer.next });
    expect(shorter.answer).toMatchObject({ rows: all.slice(50, 55), total: 56, hasMore: true });
    // Cursors of older versions do not say how many rows come before them.
    const after = placeOf({ createdAt: new Date(all[9]!.at), id: all[9]!.id });
    const older = await list({}, { limit: 40, cursor: encodeCursor({ after, page: 2 }, ['audit']) });
    expect(older.answer).toMatchObject({ rows: all.slice(10, 50), total: 41, hasMore: true });
  });

  test('with a filter that no index covers, reads only until the page is found', async () => {
    const filter = { actor: busy, projectId };
    const { next: cursor } = await list(filter, { limit: 2 });
    const range = vi.spyOn(documents, 'range');
    expect((await list(filter, { limit: 2, cursor })).answer.rows).toEqual([all[4], all[6]]);
    // Eight rows are read for the total. For the page, three rows are read first, and then ten times as many.
    expect(range.mock.calls.map(([, { limit }]) => limit).sort((a, b) => a - b)).toEqual([3, 8, 30]);
  });

  test('stops at the deadline', async () => {
    const missing = { actor: busy, action: 'identity.other' };
    expect((await list(missing, {})).answer).toMatchObject({ rows: [], total: 0, hasMore: false });
    await expect(list(missing, { limit: 2 }, Date.now())).rejects.toThrow(DeadlinePassed);
    await expect(list({}, { page: 4 }, Date.now())).rejects.toThrow(DeadlinePassed);
  });
});
