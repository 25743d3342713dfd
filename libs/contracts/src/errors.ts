/**
 * Every error code of the API, with its HTTP status and its default text (spec#errors-codes). A code gets its status only from
 * this table.
 */
export const errors = {
  'request/invalid-http': { status: 400, message: 'The request is not valid HTTP.' },
  'request/invalid-json': { status: 400, message: 'The body is not a JSON object.' },
  'request/invalid-multipart': {
    status: 400,
    message: 'The body is not a well-formed multipart/form-data form.',
  },
  'request/unknown-field': { status: 400, message: 'This endpoint does not take that field.' },
  'request/invalid-idempotency-key': {
    status: 400,
    message: 'The Idempotency-Key must be a string of 1 to 255 characters.',
  },
  'request/in-progress': { status: 409, message: 'A request with this Idempotency-Key is still running.' },
  'request/idempotency-mismatch': {
    status: 422,
    message: 'This Idempotency-Key was used for a different request.',
  },
  'request/timeout': { status: 408, message: 'The request did not arrive in time.' },
  'request/precondition-failed': {
    status: 412,
    message: 'The stored version does not meet the conditions of the request.',
  },
  'request/too-large': { status: 413, message: 'The body is larger than this endpoint accepts.' },
  'request/unsupported-media-type': { status: 415, message: 'Send the body as application/json in UTF-8.' },
  'request/expectation-failed': { status: 417, message: 'The Expect header cannot be met. Leave it out.' },
  'request/headers-too-large': { status: 431, message: 'The request line or its headers are too large.' },
  'route/not-found': { status: 404, message: 'No such endpoint.' },
  'route/method-not-allowed': { status: 405, message: 'This endpoint does not take that method.' },
  'rate-limit/exceeded': { status: 429, message: 'Too many requests. Try again later.' },
  'gateway/unavailable': {
    status: 503,
    message: 'The service behind this endpoint is not available. Try again later.',
  },
  'gateway/timeout': { status: 504, message: 'The service behind this endpoint did not answer in time.' },
  'gateway/server-error': { status: 500, message: 'Something went wrong.' },
  'auth/unauthorized': { status: 401, message: 'A valid access token is required.' },
  'auth/token-expired': { status: 403, message: 'This access token has expired.' },
  'auth/forbidden': { status: 403, message: 'This token does not allow that.' },
  'auth/invalid-credentials': { status: 401, message: 'The e-mail address or the password is wrong.' },
  'auth/too-many-attempts': { status: 429, message: 'Too many attempts have failed. Try again later.' },
  'auth/token-reuse-detected': {
    status: 401,
    message: 'This refresh token was used before, so its session has ended. Sign in again.',
  },
  'auth/missing-keys': { status: 403, message: 'This project has no public key to verify user tokens with.' },
  'auth/invalid-token': { status: 403, message: 'The user token is not valid.' },
  'auth/key-not-found': { status: 404, message: 'No such key.' },
  'auth/session-not-found': { status: 404, message: 'No such session.' },
  'auth/invalid-body': { status: 400, message: 'The body is not valid.' },
  'auth/invalid-query': { status: 400, message: 'The query is not valid.' },
  'auth/weak-password': { status: 400, message: 'The password needs at least 8 characters.' },
  'auth/not-password-user': {
    status: 400,
    message: 'This account does not sign in with an e-mail address and a password.',
  },
  'auth/second-factor-required': {
    status: 401,
    message: 'This account has a second factor. Send its code, or a passkey, as well.',
  },
  'auth/invalid-second-factor': {
    status: 401,
    message: 'The code or the passkey is wrong, has expired, or was used before.',
  },
  'auth/step-up-required': {
    status: 403,
    message: 'Prove that it is you with POST /auth/step-up, then repeat this request.',
  },
  'auth/factor-not-found': { status: 404, message: 'No such second factor.' },
  'auth/too-many-factors': {
    status: 409,
    message: 'An account has at most 10 second factors. Remove one first.',
  },
  'auth/invalid-rp-id': {
    status: 400,
    message: 'Send as rpId the host of one of the project’s web origins, or a domain above it.',
  },
  'auth/mail-unavailable': { status: 503, message: 'This installation cannot send mails.' },
  'auth/sign-up-closed': { status: 403, message: 'This project takes no new accounts.' },
  'auth/email-not-verified': {
    status: 403,
    message: 'Confirm your e-mail address first; a mail with a link was sent to it.',
  },
  'auth/invalid-reset-token': {
    status: 400,
    message: 'This token has expired or was used. Ask for another mail.',
  },
  'auth/invalid-or-expired-token': {
    status: 400,
    message: 'This token or code is wrong, has expired or was used. Ask for another mail.',
  },
  'auth/invalid-redirect': {
    status: 400,
    message: 'The address to go back to must be at one of the web origins of the project.',
  },
  'auth/suspended': { status: 403, message: 'This account is suspended.' },
  'auth/server-error': { status: 500, message: 'Something went wrong.' },
  'user/not-found': { status: 404, message: 'No such user.' },
  'user/invalid-body': { status: 400, message: 'The body is not valid.' },
  'user/invalid-query': { status: 400, message: 'The query is not valid.' },
  'user/server-error': { status: 500, message: 'Something went wrong.' },
  'project/invalid-id': { status: 400, message: 'The project id is not a UUID.' },
  'project/not-found': { status: 404, message: 'No such project.' },
  'project/invalid-body': { status: 400, message: 'The body is not valid.' },
  'project/invalid-query': { status: 400, message: 'The query is not valid.' },
  'project/server-error': { status: 500, message: 'Something went wrong.' },
  'crypto/missing-params': { status: 400, message: 'A parameter is missing or has the wrong type.' },
  'crypto/invalid-body': { status: 400, message: 'The body is not valid.' },
  'crypto/invalid-query': { status: 400, message: 'The query is not valid.' },
  'crypto/server-error': { status: 500, message: 'The token could not be signed.' },
  'collection/not-found': { status: 404, message: 'No such collection.' },
  'collection/invalid-name': { status: 400, message: 'The name must be 1 to 200 characters.' },
  'collection/invalid-parent': { status: 400, message: 'The parent collection does not exist.' },
  'collection/too-deep': { status: 400, message: 'Collections nest at most 100 levels deep.' },
  'collection/invalid-body': { status: 400, message: 'The body is not valid.' },
  'collection/invalid-query': { status: 400, message: 'The query is not valid.' },
  'collection/server-error': { status: 500, message: 'Something went wrong.' },
  'connection/not-found': { status: 404, message: 'No such connection.' },
  'connection/user-not-found': { status: 404, message: 'No such user.' },
  'connection/self-request': { status: 400, message: 'You cannot connect with yourself.' },
  'connection/self-check': { status: 400, message: 'There is no connection between you and yourself.' },
  'connection/self-disconnect': { status: 400, message: 'You cannot disconnect from yourself.' },
  'connection/self-block': { status: 400, message: 'You cannot block yourself.' },
  'connection/not-allowed': { status: 403, message: 'You cannot connect with this user.' },
  'connection/request-pending': { status: 409, message: 'A request between you two is already pending.' },
  'connection/already-connected': { status: 409, message: 'You two are already connected.' },
  'connection/request-declined': { status: 409, message: 'This user has declined your request.' },
  'connection/unauthorized': { status: 403, message: 'Only the other user of this request may do that.' },
  'connection/invalid-message': { status: 400, message: 'The message must be at most 1,000 characters.' },
  'connection/invalid-body': { status: 400, message: 'The body is not valid.' },
  'connection/invalid-query': { status: 400, message: 'The query is not valid.' },
  'connection/server-error': { status: 500, message: 'Something went wrong.' },
  'app-notification/not-found': { status: 404, message: 'No such notification.' },
  'app-notification/invalid-body': { status: 400, message: 'The body is not valid.' },
  'app-notification/invalid-query': { status: 400, message: 'The query is not valid.' },
  'app-notification/server-error': { status: 500, message: 'Something went wrong.' },
  'storage/not-found': { status: 404, message: 'No such file.' },
  'storage/no-file': { status: 400, message: 'The form has no file. Send it as the part named file.' },
  'storage/invalid-image': { status: 400, message: 'The file is not an image that can be read.' },
  'storage/file-too-large': { status: 413, message: 'The file must be at most 50 MiB.' },
  'storage/quota-exceeded': {
    status: 403,
    message: 'This file would exceed the quota. Delete other files first.',
  },
  'storage/invalid-range': { status: 416, message: 'The file does not have that range of bytes.' },
  'storage/invalid-body': { status: 400, message: 'The body is not valid.' },
  'storage/invalid-query': { status: 400, message: 'The query is not valid.' },
  'storage/server-error': { status: 500, message: 'Something went wrong.' },
  DUPLICATE_EMAIL: { status: 409, message: 'This e-mail address is taken.' },
  DUPLICATE_USERNAME: { status: 409, message: 'This username is taken.' },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof errors;

/** The features that own error codes. A feature's name is the part of a code before the slash. */
export type Feature =
  | 'auth'
  | 'user'
  | 'project'
  | 'crypto'
  | 'collection'
  | 'connection'
  | 'app-notification'
  | 'storage';

/** The body of every answer whose status is neither 2xx nor 304 (spec#errors-envelope). */
export interface ErrorBody {
  error: string;
  code: string;
  field?: string;
  /** All wrong fields, if there are several (spec#errors-several). */
  errors?: readonly FieldError[];
  details?: string;
}

/** What is wrong with one field. */
export interface FieldError {
  field: string;
  error: string;
}

/** The HTTP status of a code. */
export function statusOf(code: ErrorCode): number {
  return errors[code].status;
}

/** Whether a string is one of the API's codes. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errors, code);
}

/** Builds the error envelope of a code. Fields that are not given are left out (spec#errors-envelope). */
export function errorBody(
  code: ErrorCode,
  extra: { message?: string; field?: string; errors?: readonly FieldError[]; details?: string } = {},
): ErrorBody {
  const body: ErrorBody = { error: extra.message ?? errors[code].message, code };
  if (extra.field !== undefined) body.field = extra.field;
  if (extra.errors !== undefined) body.errors = extra.errors;
  if (extra.details !== undefined) body.details = extra.details;
  return body;
}

/**
 * An error in the form of RFC 9457. It also has the fields of the error envelope, as extension members
 * (spec#errors-problem-error).
 */
export interface Problem extends ErrorBody {
  type: string;
  title: string;
  status: number;
  detail: string;
}

/**
 * The `type` of all problems with a code. It is the address of the code's entry in the error catalogue, the same on every
 * server.
 */
export function problemType(code: string): string {
  return `/docs/errors#${code}`;
}

/** Turns an error envelope into a problem (RFC 9457). */
export function problemOf(body: ErrorBody, status: number): Problem {
  const { error, code } = body;
  const title = isErrorCode(code) ? errors[code].message : error;
  return { type: problemType(code), title, status, detail: error, ...body };
}
