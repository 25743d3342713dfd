import { z } from 'zod';
import { clampedInteger, positiveInteger, wholeNumber } from './scalars.ts';

/** An opaque cursor, from a `Link` header (spec#lists-cursor). */
export const cursor = z
  .string()
  .max(2048)
  .regex(/^[\w-]*$/, 'does not belong to this list. Start the list again without a cursor.')
  .optional()
  .describe('The cursor from the `Link` of the previous answer. If it is given, `page` is ignored.');

/**
 * The query of a list: page number or cursor, and page size. A page size over `max` counts as `max` (spec#lists-cursor,
 * spec#connections-list-limit).
 */
export function listQuery(defaults: { limit: number; max: number }) {
  return z.object({
    page: positiveInteger.default(1).describe('The page, from 1.'),
    limit: clampedInteger(defaults.max)
      .default(defaults.limit)
      .describe(`Number of items in a page. A number above ${defaults.max} counts as ${defaults.max}.`),
    cursor,
  });
}

/** The largest number of items in a page. The limit applies to every list that has an envelope. */
const longestPage = 100;

/** The pagination in the envelope of the connection lists, `{ <key>: [...], pagination }` (spec#connections-list-envelope). */
export const connectionPagination = z.object({
  currentPage: wholeNumber,
  totalPages: wholeNumber,
  totalCount: wholeNumber,
  hasNextPage: z.boolean(),
  hasPreviousPage: z.boolean(),
  limit: wholeNumber,
  // Under a v7 short form, the pagination also has the fields of the general pagination (spec#short-forms-lists).
  page: wholeNumber.optional(),
  pageSize: wholeNumber.optional(),
  totalItems: wholeNumber.optional(),
  hasMore: z.boolean().optional(),
});

/**
 * A list in the envelope of the connection lists. Under a v7 short form, `data` repeats the same items
 * (spec#short-forms-lists).
 */
export function connectionEnvelope<Key extends string, Item extends z.ZodType>(key: Key, item: Item) {
  return z.object({
    ...({ [key]: z.array(item).max(longestPage) } as Record<Key, z.ZodArray<Item>>),
    data: z.array(item).max(longestPage).optional(),
    pagination: connectionPagination,
  });
}

/** The pagination of the general list (spec#lists-envelope). */
export const generalPagination = z.object({
  page: wholeNumber,
  pageSize: wholeNumber,
  totalPages: wholeNumber,
  totalItems: wholeNumber.describe(
    'Number of items in the list. In the audit log, this may be a lower bound (spec#audit-total).',
  ),
  hasMore: z.boolean(),
});

/** The general list envelope (spec#lists-envelope): `{ data: [...], pagination }`. */
export function generalList<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item).max(longestPage), pagination: generalPagination });
}

/** Makes the pagination of a connection list. `hasMore` says whether more rows follow. */
export function connectionPaginationOf(list: {
  page: number;
  limit: number;
  total: number;
  hasMore: boolean;
}): z.output<typeof connectionPagination> {
  return {
    currentPage: list.page,
    totalPages: Math.ceil(list.total / list.limit),
    totalCount: list.total,
    hasNextPage: list.hasMore,
    hasPreviousPage: list.page > 1,
    limit: list.limit,
  };
}

/** Makes the pagination of a general list. `hasMore` says whether more rows follow. */
export function generalPaginationOf(list: { page: number; limit: number; total: number; hasMore: boolean }) {
  return {
    page: list.page,
    pageSize: list.limit,
    totalPages: Math.ceil(list.total / list.limit),
    totalItems: list.total,
    hasMore: list.hasMore,
  };
}
