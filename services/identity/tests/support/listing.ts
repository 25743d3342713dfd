import type { OperationAnswer } from '@kith/testing';
import { expect } from 'vitest';
import { placeOf } from '../../src/listing.ts';

interface Listed {
  id: string;
  createdAt: string;
}

/** Compares two rows of a list: newest first, then by id. */
export function newestFirst(one: Listed, other: Listed): number {
  const [a, b] = [one, other].map(({ id, createdAt }) => placeOf({ id, createdAt: new Date(createdAt) }));
  return (a ?? '') < (b ?? '') ? -1 : 1;
}

/** Reads a list page by page with its cursors, and returns all rows. `meanwhile` runs after the first page was read. */
export async function walk(
  list: (query: string) => Promise<OperationAnswer>,
  query: string,
  meanwhile: () => Promise<unknown>,
): Promise<unknown[]> {
  const walked: unknown[] = [];
  let next: string | undefined = query;
  for (let page = 1; next !== undefined; page++) {
    const answer = await list(next);
    walked.push(...answer.body.data);
    expect(answer.body.pagination.page).toBe(page);
    if (page === 1) await meanwhile();
    next = answer.next;
  }
  return walked;
}
