import { type ErrorCode, errors, type FieldError } from '@kith/contracts';

/** An error that a caller receives as an answer. If a handler or the gateway throws it, it is sent as an error envelope. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly errors: readonly FieldError[] | undefined;
  readonly details: string | undefined;
  /** Further HTTP headers of the answer, if the code needs any. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    options: {
      message?: string;
      field?: string;
      errors?: readonly FieldError[];
      details?: string;
      headers?: Readonly<Record<string, string>>;
      cause?: unknown;
    } = {},
  ) {
    super(options.message ?? errors[code].message, { cause: options.cause });
    this.code = code;
    this.field = options.field;
    this.errors = options.errors;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }
}

/** A reason why the process does not start, in one sentence for the person who started it. */
export class StartError extends Error {
  override name = 'StartError';
}

/** Thrown by work that has waited past its deadline. Nobody waits for the answer any more, so no answer is sent. */
export class DeadlinePassed extends Error {
  override name = 'DeadlinePassed';
}
