import type { CommonErrorCode, ErrorCode, Methods } from './generated/types.ts';

/** `client/unexpected-answer`: what came is not from the API, as the error page of a proxy in between. */
export type ClientErrorCode = 'client/unexpected-answer';

/** Every code a `KithError` may have. */
export type KithErrorCode = ErrorCode | ClientErrorCode;

/** The codes a method may be refused with: `ErrorCodeOf<'connections.request'>`. */
export type ErrorCodeOf<Name extends keyof Methods> =
  | Methods[Name]['errors']
  | CommonErrorCode
  | ClientErrorCode;

/** What is wrong with one input. */
export interface FieldError {
  field: string;
  error: string;
}

/** An answer outside 2xx. `code` tells which, and stays the same while texts may change. */
export class KithError<Code extends KithErrorCode = KithErrorCode> extends Error {
  override readonly name = 'KithError';
  readonly status: number;
  readonly code: Code;
  /** The input that is wrong, `payload.id`. */
  readonly field: string | undefined;
  /** All inputs that are wrong, each with its sentence. Empty where no input is named. */
  readonly errors: readonly FieldError[];
  readonly details: string | undefined;
  /** Names the request in the platform's logs. */
  readonly requestId: string | undefined;
  /** After how many milliseconds the platform asks to come again. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    of: {
      status: number;
      code: Code;
      field?: string | undefined;
      errors?: readonly FieldError[] | undefined;
      details?: string | undefined;
      requestId?: string | undefined;
      retryAfterMs?: number | undefined;
      cause?: unknown;
    },
  ) {
    super(message, { cause: of.cause });
    this.status = of.status;
    this.code = of.code;
    this.field = of.field;
    this.errors = of.errors ?? (of.field === undefined ? [] : [{ field: of.field, error: message }]);
    this.details = of.details;
    this.requestId = of.requestId;
    this.retryAfterMs = of.retryAfterMs;
  }
}

/** No answer, or only a part of one: whether the request was worked on is not known. `cause` tells what failed. */
export class KithNetworkError extends Error {
  override readonly name = 'KithNetworkError';
  /** It took longer than `timeoutMs`. */
  readonly isTimeout: boolean;

  constructor(message: string, of: { isTimeout: boolean; cause?: unknown }) {
    super(message, { cause: of.cause });
    this.isTimeout = of.isTimeout;
  }
}

/** Tells whether an error is an answer of the API, and one of these codes if any are given. */
export function isKithError<Code extends KithErrorCode = KithErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is KithError<Code> {
  return error instanceof KithError && (codes.length === 0 || codes.includes(error.code as Code));
}
