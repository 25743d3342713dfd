import type { ErrorCode } from '@kith/contracts';
import type { OperationAnswer } from '@kith/testing';
import { expect } from 'vitest';

/** Expects that an answer refuses a field as malformed, with a sentence that names the field (spec#errors-field). */
export function expectInvalid({ status, body }: OperationAnswer, code: ErrorCode, field: string): void {
  expect(status).toBe(400);
  expect(body).toMatchObject({ error: expect.stringMatching(new RegExp(`^${field} `)), code, field });
}
