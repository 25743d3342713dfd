import type { ErrorCode } from '@kith/contracts';

/** What of a contract entry says which codes it may answer with. */
export interface Listing {
  feature: string;
  errors: readonly ErrorCode[];
  invalid?: Readonly<Record<string, ErrorCode>>;
  upload?: unknown;
}

/** An upload may come too slowly, and outlive the account of its user. */
const ofUploads: ReadonlySet<ErrorCode> = new Set(['request/timeout', 'auth/unauthorized']);

/** Whether a code may leave a service as the answer of an operation. */
export function isListed(spec: Listing, code: ErrorCode): boolean {
  return (
    spec.errors.includes(code) ||
    code === 'request/invalid-json' ||
    code === 'request/invalid-multipart' ||
    code === 'request/unknown-field' ||
    code === 'route/not-found' ||
    code === 'gateway/unavailable' ||
    code === 'request/in-progress' ||
    code === 'request/idempotency-mismatch' ||
    (spec.upload !== undefined && ofUploads.has(code)) ||
    code === `${spec.feature}/server-error` ||
    code.startsWith(`${spec.feature}/invalid-`) ||
    Object.values(spec.invalid ?? {}).includes(code)
  );
}
