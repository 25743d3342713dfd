import { ApiError } from '@kith/base';
import { expectsContinue } from './body.ts';
import type { HttpRequest } from './exchange.ts';

/**
 * The form of a target: ASCII without control characters (RFC 9112 section 3.2). A target is passed on in header lines, so it
 * must contain no line breaks.
 */
const targetForm = /^[\x21-\x7e]+$/;
const hostForm = /^[A-Za-z0-9._~!$&'()*+,;=:[\]%-]*$/;

/**
 * Checks the rules of HTTP/1.1 that Node leaves to this server, so that violations are answered with the envelope, too. A
 * request needs a target and one Host, both well-formed (RFC 9112 section 3.2). The request must not have an expectation other
 * than 100-continue (RFC 9110 section 10.1.1).
 */
export function checkHttpRules(request: HttpRequest): void {
  if (!targetForm.test(request.url)) throw new ApiError('request/invalid-http');
  const { host, expect } = request.headers;
  const isMissing = host === undefined && request.httpVersion === '1.1';
  if (isMissing || (host !== undefined && !hostForm.test(host)) || hasTwoHosts(request)) {
    throw new ApiError('request/invalid-http');
  }
  const expects = expect !== undefined && request.httpVersion === '1.1';
  if (expects && !expectsContinue(request)) throw new ApiError('request/expectation-failed');
}

/** Looks at the raw headers, because Node keeps only the first of several Host lines. */
function hasTwoHosts({ rawHeaders }: HttpRequest): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}
