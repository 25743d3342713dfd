import { ApiError } from '@kith/base';
import { writeAnswer } from '../http/answer.ts';
import type { Middleware } from '../http/middleware.ts';
import { splitTarget } from '../routes/address.ts';

/** The contact for reports of security weaknesses of this installation. */
export interface SecurityContact {
  /** Addresses, `mailto:` or `https:`, best first. If there are no addresses, the file is not served. */
  contacts: readonly string[];
  /** The page that says how to report weaknesses. */
  policy: string | undefined;
}

const path = '/.well-known/security.txt';
const allow = 'GET, HEAD, OPTIONS';
/**
 * How many days the file is valid. RFC 9116 section 2.5.5 recommends less than a year. Each answer counts the days anew, so the
 * file is up to date as long as it is served.
 */
const validDays = 180;
const dayMs = 24 * 3600_000;

/** Serves `/.well-known/security.txt` (RFC 9116, spec#edges-security-txt). */
export function serveSecurityContact({ contacts, policy }: SecurityContact): Middleware {
  return (request, response, next) => {
    const [asked] = splitTarget(request.url);
    if (asked !== path) return next();
    response.locals.operation = 'gateway.reference';
    if (request.method === 'OPTIONS') {
      const headers = { Allow: allow };
      return writeAnswer(request, response, { status: 204, headers, body: new Uint8Array() });
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.locals.headers.Allow = allow;
      throw new ApiError('route/method-not-allowed');
    }
    const lines = [
      ...contacts.map((contact) => `Contact: ${contact}`),
      ...(policy === undefined ? [] : [`Policy: ${policy}`]),
      `Expires: ${new Date((Math.floor(Date.now() / dayMs) + validDays) * dayMs).toISOString()}`,
    ];
    const headers = { 'Content-Type': 'text/plain; charset=utf-8' };
    const body = new TextEncoder().encode(`${lines.join('\n')}\n`);
    writeAnswer(request, response, { status: 200, headers, body });
  };
}
