import { hash } from 'node:crypto';
import type { ErrorCode } from '@kith/contracts';
import { z } from 'zod';
import { ApiError } from './errors.ts';

const shape = z.object({
  ...{ k: z.string(), n: z.int().positive(), b: z.string() },
  r: z.int().nonnegative().optional(),
});

/** The position in a list: the key of the last row that was returned, and the number of the next page. */
export interface ListPosition {
  after: string;
  page: number;
  /** How many rows of the list come before the next page. Needed only if the platform counts just a part of the list's rows. */
  before?: number | undefined;
}

/**
 * Encodes a list position as an opaque string. The string is bound to the list's operation, filters and caller
 * (spec#lists-cursor-binding).
 */
export function encodeCursor(position: ListPosition, binding: readonly string[]): string {
  const content = { k: position.after, n: position.page, b: digest(binding), r: position.before };
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

/** Reads a cursor back. If the cursor is broken or bound to something else, throws `code` with `field: "cursor"`. */
export function decodeCursor(cursor: string, binding: readonly string[], code: ErrorCode): ListPosition {
  try {
    const content = shape.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
    if (content.b === digest(binding)) return { after: content.k, page: content.n, before: content.r };
  } catch {
    // The cursor cannot be read. The `throw` below refuses it, like a cursor with another binding.
  }
  throw foreignCursor(code);
}

/** The error for a cursor that does not belong to the list (spec#lists-invalid-cursor). */
export function foreignCursor(code: ErrorCode): ApiError {
  return new ApiError(code, {
    message: 'cursor does not belong to this list. Start the list again without a cursor.',
    field: 'cursor',
  });
}

function digest(binding: readonly string[]): string {
  return hash('sha256', JSON.stringify(binding), 'base64url').slice(0, 16);
}
