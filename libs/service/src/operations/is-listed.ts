import type { ErrorCode } from '@kith/contracts';

/** The parts of a contract entry that say with which codes the operation may answer. */
export interface Listing {
  feature: string;
  errors: readonly ErrorCode[];
  invalid?: Readonly<Record<string, ErrorCode>>;
  upload?: unknown;
}

/** Further codes of uploads. They say that the upload was too slow, or that the user's account has ended during the upload. */
const ofUploads: ReadonlySet<ErrorCode> = new Set(['request/timeout', 'auth/unauthorized']);

/** Whether a service may answer an operation with a code. */
export function isListed(spec: Listing, code: ErrorCode): boolean {
  return (
    spec.errors.includes(code) ||
    code === 'request/invalid-json' ||
    code === 'request/invalid-multipart' ||
    code === 'request/unknown-field' ||
    code === 'route/not-found' ||
    code === 'gateway/unavailable' ||
    code === 'gateway/timeout' ||
    code === 'request/in-progress' ||
    code === 'request/idempotency-mismatch' ||
    (spec.upload !== undefined && ofUploads.has(code)) ||
    code === `${spec.feature}/server-error` ||
    code.startsWith(`${spec.feature}/invalid-`) ||
    Object.values(spec.invalid ?? {}).includes(code)
  );
}
