import type { CommonErrorCode, ErrorCode, Methods } from './generated/types.ts';

/** `client/unexpected-answer`: the answer is not from the API, for example the error page of a proxy. */
export type ClientErrorCode = 'client/unexpected-answer';

/** Every code a `KithError` may have. */
export type KithErrorCode = ErrorCode | ClientErrorCode;

/** The codes that an error of a method may have, for example `ErrorCodeOf<'connections.request'>`. */
export type ErrorCodeOf<Name extends keyof Methods> =
  | Methods[Name]['errors']
  | CommonErrorCode
  | ClientErrorCode;

/** What is wrong with one input. */
export interface FieldError {
  field: string;
  error: string;
}

/** An answer outside 2xx. `code` says which error it is. Codes stay the same, while texts may change. */
export class KithError<Code extends KithErrorCode = KithErrorCode> extends Error {
  override readonly name = 'KithError';
  readonly status: number;
  readonly code: Code;
  /** The input that is wrong, for example `payload.id`. */
  readonly field: string | undefined;
  /** All inputs that are wrong, each with a sentence. Empty if the error names no input. */
  readonly errors: readonly FieldError[];
  readonly details: string | undefined;
  /** The id of the request, as in the platform's logs. */
  readonly requestId: string | undefined;
  /** How many milliseconds the platform asks to wait before the next attempt. */
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

/**
 * Thrown if no answer, or only a part of an answer, has arrived. It is unknown whether the request was carried out. `cause`
 * says what failed.
 */
export class KithNetworkError extends Error {
  override readonly name = 'KithNetworkError';
  /** Whether the attempt took longer than `timeoutMs`. */
  readonly isTimeout: boolean;

  constructor(message: string, of: { isTimeout: boolean; cause?: unknown }) {
    super(message, { cause: of.cause });
    this.isTimeout = of.isTimeout;
  }
}

/**
 * Whether an error is an answer of the API. If codes are given, the error must also have one of these codes. The error may come
 * from another copy of this package, for example from the copy that `@kith/testing` has installed.
 */
export function isKithError<Code extends KithErrorCode = KithErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is KithError<Code> {
  const { name, code } = (error ?? {}) as Partial<KithError>;
  return name === 'KithError' && (codes.length === 0 || codes.includes(code as Code));
}
