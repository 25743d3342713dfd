import {
  type ErrorCode,
  isErrorCode,
  methodsOf,
  type OperationSpec,
  statusOf,
  takesKey,
} from '@kith/contracts';

/** Codes that belong to no operation. The gateway answers with them before a request reaches an operation. */
export const outside: readonly ErrorCode[] = [
  'route/not-found',
  'route/method-not-allowed',
  'request/timeout',
  'request/expectation-failed',
  'request/headers-too-large',
];

/** The additional codes of an operation that takes an Idempotency-Key. */
const keyCodes: readonly ErrorCode[] = [
  'request/invalid-idempotency-key',
  'request/in-progress',
  'request/idempotency-mismatch',
];

/**
 * Every code that an operation may answer with. These are its own codes, the codes of validation, and the codes of the layers
 * before the operation (spec#errors-envelope).
 */
export function codesOf(operation: OperationSpec): ErrorCode[] {
  const { feature, auth, limit, scope, params, invalid = {}, errors } = operation;
  const isOfProject = scope === 'project' || 'projectId' in params.shape;
  // An operation with `visibility` needs a token in projects that restrict it to signed-in users.
  const asksUsers = auth === 'user' || auth === 'server-key' || operation.visibility !== undefined;
  const takesForm = operation.upload !== undefined;
  const takesBody = !methodsOf(operation).includes('GET') && !takesForm;
  const codes: (string | false)[] = [
    'request/invalid-http',
    scope === 'project' && 'project/invalid-id',
    isOfProject && !operation.answersDeleted && 'project/not-found',
    (limit !== null || auth === 'operator') && 'rate-limit/exceeded',
    (asksUsers || auth === 'operator') && 'auth/unauthorized',
    // This code is possible even if the token is optional, because callers without a server key get it if they send the header
    // `On-Behalf-Of`.
    (asksUsers || auth === 'operator' || auth === 'optional') && 'auth/forbidden',
    asksUsers && 'auth/suspended',
    asksUsers && operation.shortForm === true && 'auth/token-expired',
    takesBody && 'request/invalid-json',
    takesBody && 'request/unsupported-media-type',
    takesBody && 'request/too-large',
    takesForm && 'request/invalid-multipart',
    takesForm && 'request/unsupported-media-type',
    ...(takesKey(operation) ? keyCodes : []),
    auth === 'operator' && 'request/unknown-field',
    hasKeys(operation.body) && !invalid.body && `${feature}/invalid-body`,
    hasKeys(operation.query) && !invalid.query && `${feature}/invalid-query`,
    ...Object.values(invalid),
    ...errors,
    operation.testOnly === true && 'route/not-found',
    `${feature}/server-error`,
    'gateway/server-error',
    'gateway/unavailable',
    'gateway/timeout',
  ];
  return [...new Set(codes)].filter((code) => code !== false).filter(isErrorCode);
}

/** Groups codes by status. The group with the lowest status comes first. */
export function byStatus(codes: readonly ErrorCode[]): [status: string, codes: ErrorCode[]][] {
  const groups = Object.groupBy(codes, (code) => String(statusOf(code)));
  return Object.entries(groups).map(([status, group]) => [status, group ?? []]);
}

function hasKeys(schema: OperationSpec['body']): boolean {
  return Object.keys((schema as unknown as { shape: object }).shape).length > 0;
}
