import { type ErrorCode, errors } from '@kith/contracts';
import { expect } from 'vitest';
import type { Answer } from '../http.ts';

/** The content of an error body besides its code. */
export interface Refusal {
  /** The wrong field. An error body has this key only if the error names a field. */
  field?: string;
  /**
   * The whole message. By default it is the code's own message. If a field is wrong, the default is a message that begins with the
   * field's name.
   */
  message?: string;
  /** Whether the error body has `details`. */
  details?: boolean;
}

/** Checks the whole error envelope (spec#errors-envelope). */
export function expectRefusal(answer: Answer, of: Refusal & { operation: string; code: ErrorCode }): void {
  const { operation, code, field, message, details = false } = of;
  const { status, message: own } = errors[code];
  const body = read(answer);
  const said = body?.error;
  const ofField = field !== undefined && typeof said === 'string' && said.startsWith(`${field} `);
  const saysWhy = ofField || code === 'auth/unauthorized';
  const several = body?.errors;
  if (several) expectSeveral(several, { field, error: said });
  expect([operation, answer.status, body]).toEqual([
    operation,
    status,
    {
      error: message ?? (saysWhy ? said : own),
      code,
      ...(field === undefined ? {} : { field }),
      ...(several ? { errors: several } : {}),
      ...(details ? { details: expect.stringMatching(/./) } : {}),
    },
  ]);
}

/** Checks an error about several fields. Its first entry must have the field and message of the error itself (spec#errors-several). */
function expectSeveral(errors: unknown[], first: unknown): void {
  expect(errors.length).toBeGreaterThan(1);
  expect(errors[0]).toEqual(first);
  const one = { field: expect.any(String), error: expect.stringMatching(/^\S.*\.$/) };
  expect(errors).toEqual(errors.map(() => one));
}

function read(answer: Answer): { error?: unknown; errors?: unknown[] } | undefined {
  try {
    return answer.json() as { error?: unknown; errors?: unknown[] };
  } catch {
    // The body is not JSON. Returns its text, so that the comparison fails and shows this text.
    return { error: answer.text };
  }
}
