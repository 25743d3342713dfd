import { type ErrorCode, errorBody } from '@kith/contracts';

/** The status and the whole body of an error's answer. */
export function refusal(status: number, code: ErrorCode, extra: { message?: string; field?: string } = {}) {
  return { status, body: errorBody(code, extra) };
}

/** The pagination of a list whose entries are all on its first page (spec#connections-list-envelope). */
export function onePage(totalCount: number) {
  return {
    currentPage: 1,
    totalPages: totalCount > 0 ? 1 : 0,
    totalCount,
    hasNextPage: false,
    hasPreviousPage: false,
    limit: 20,
  };
}
