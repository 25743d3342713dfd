import { type ErrorCode, type Limit, type OperationSpec, statusOf } from '@kith/contracts';
import { expect } from 'vitest';
import type { Answer } from '../http.ts';

/** The limit of an operation on the suite's platform; null if the operation has no limit. */
export type Limits = (spec: OperationSpec) => Limit | null;

const json = 'application/json';
/**
 * The codes of answers that the gateway sends before it knows the operation. Such answers do not count against the operation's
 * limit.
 */
const beforeLimit: readonly ErrorCode[] = [
  'route/not-found',
  'route/method-not-allowed',
  'project/invalid-id',
];

/** Checks the headers that clients rely on (spec#errors-envelope, spec#limits-headers). */
export function expectHeaders(
  answer: Pick<Answer, 'status' | 'headers'>,
  of: { spec: OperationSpec; limits: Limits; code?: ErrorCode; type?: string },
): void {
  const { spec, code } = of;
  const { headers } = answer;
  const type = spec.status === 204 ? undefined : (of.type ?? spec.contentType ?? json);
  expect(headers['content-type']).toBe(code ? json : type);
  // The request had no `Origin` header (spec#cors-credentials).
  expect(headers['access-control-allow-origin']).toBeUndefined();
  expect(headers.vary).toContain('Origin');
  if (code) expect(headers['cache-control']).toBe('no-store');
  expect(headers['www-authenticate']).toBe(answer.status === 401 ? 'Bearer' : undefined);
  const hasRetry = answer.status === 429 || answer.status === 503;
  expect(headers['retry-after']).toEqual(hasRetry ? expect.stringMatching(/^[1-9]\d*$/) : undefined);
  expect('allow' in headers).toBe(answer.status === 405);
  if (code) expect(answer.status).toBe(statusOf(code));
  // Operators' endpoints limit only requests with a wrong token (spec#operators-limit).
  const isFailure = code === 'auth/unauthorized' || code === 'rate-limit/exceeded';
  const isCounted = spec.auth === 'operator' ? isFailure : !code || !beforeLimit.includes(code);
  const name = spec.auth === 'operator' ? 'operator-failures' : spec.name;
  expectLimit(headers, name, isCounted ? of.limits(spec) : null);
}

/** The headers describe a limit in three forms. Checks that these forms agree with each other and with the limit. */
function expectLimit(headers: Answer['headers'], name: string, limit: Limit | null): void {
  const told = [
    'ratelimit-policy',
    'ratelimit',
    'x-ratelimit-limit',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
  ];
  if (!limit) {
    expect(told.filter((header) => header in headers)).toEqual([]);
    return;
  }
  expect(headers['ratelimit-policy']).toBe(`"${name}";q=${limit.max};w=${limit.windowSeconds}`);
  expect(headers['x-ratelimit-limit']).toBe(String(limit.max));
  const remaining = Number(headers['x-ratelimit-remaining']);
  const [, left, seconds] = /^"[^"]+";r=(\d+);t=(\d+)$/.exec(headers.ratelimit ?? '') ?? [];
  expect(headers.ratelimit).toBe(`"${name}";r=${left};t=${seconds}`);
  expect(Number(left)).toBe(remaining);
  expect(remaining).toBeLessThan(limit.max);
  expect(Number(seconds)).toBeLessThanOrEqual(limit.windowSeconds);
  const reset = Number(headers['x-ratelimit-reset']);
  expect(Math.abs(reset - Date.now() / 1000 - Number(seconds))).toBeLessThan(30);
}
