import { type ErrorCode, errors } from '@kith/contracts';
import { expect } from 'vitest';
import type { Answer } from '../http.ts';

/** What an error body holds beside its code. */
export interface Refusal {
  /** The offending input; an error body has the key only where one is named. */
  field?: string;
  /** The whole message; by default that of the code or, of a field, one that begins with its name. */
  message?: string;
  /** Whether `details` is there. */
  details?: boolean;
}

/** Checks the whole error envelope (spec#errors-envelope). */
export function expectRefusal(answer: Answer, of: Refusal & { operation: string; code: ErrorCode }): void {
  const { operation, code, field, message, details = false } = of;
  const { status, message: own } = errors[code];
  const body = read(answer);
  const said = body?.error;
  const ofField = field !== undefined && typeof said === 'string' && said.startsWith(`${field}: `);
  expect([operation, answer.status, body]).toEqual([
    operation,
    status,
    {
      error: message ?? (ofField ? said : own),
      code,
      ...(field === undefined ? {} : { field }),
      ...(details ? { details: expect.stringMatching(/./) } : {}),
    },
  ]);
}

function read(answer: Answer): { error?: unknown } | undefined {
  try {
    return answer.json() as { error?: unknown };
  } catch {
    // Shown as it came, by the comparison that fails.
    return { error: answer.text };
  }
}
