import { z } from 'zod';
import { positiveInteger, wholeNumber } from './scalars.ts';

/** Opaque: what `Link` gave (SPEC A7). */
export const cursor = z
  .string()
  .max(2048)
  .optional()
  .describe('Where the `Link` of the answer before goes on; it wins over `page`.');

/** The query of a list: page number or cursor, and page size. A size over `max` counts as `max` (SPEC A6, A7). */
export function listQuery(defaults: { limit: number; max: number }) {
  return z.object({
    page: positiveInteger.default(1).describe('The page, from 1.'),
    limit: positiveInteger
      .transform((value) => Math.min(value, defaults.max))
      .default(defaults.limit)
      .describe(`Items of a page; more than ${defaults.max} count as ${defaults.max}.`),
    cursor,
  });
}

/** Most items of a page of any list in an envelope. */
const longestPage = 100;

/** The connection lists' own envelope (SPEC A6): `{ <key>: [...], pagination }`. */
export const connectionPagination = z.object({
  currentPage: wholeNumber,
  totalPages: wholeNumber,
  totalCount: wholeNumber,
  hasNextPage: z.boolean(),
  hasPreviousPage: z.boolean(),
  limit: wholeNumber,
  // Under a v7 short form also those of the general envelope (SPEC B9).
  page: wholeNumber.optional(),
  pageSize: wholeNumber.optional(),
  totalItems: wholeNumber.optional(),
  hasMore: z.boolean().optional(),
});

/** A list in the connection lists' envelope; `data` is the same items again, under a v7 short form (SPEC B9). */
export function connectionEnvelope<Key extends string, Item extends z.ZodType>(key: Key, item: Item) {
  return z.object({
    ...({ [key]: z.array(item).max(longestPage) } as Record<Key, z.ZodArray<Item>>),
    data: z.array(item).max(longestPage).optional(),
    pagination: connectionPagination,
  });
}

/** The general list's pagination (SPEC A7). */
export const generalPagination = z.object({
  page: wholeNumber,
  pageSize: wholeNumber,
  totalPages: wholeNumber,
  totalItems: wholeNumber,
  hasMore: z.boolean(),
});

/** The general list envelope (SPEC A7): `{ data: [...], pagination }`. */
export function generalList<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item).max(longestPage), pagination: generalPagination });
}

/** Makes the connection lists' pagination from a page, its size, the total and whether a row follows. */
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

/** Makes the general envelope's pagination from a page, its size, the total and whether a row follows. */
export function generalPaginationOf(list: { page: number; limit: number; total: number; hasMore: boolean }) {
  return {
    page: list.page,
    pageSize: list.limit,
    totalPages: Math.ceil(list.total / list.limit),
    totalItems: list.total,
    hasMore: list.hasMore,
  };
}
