import { ApiError } from '@kith/base';
import type { Request, Response } from 'express';
import { writeAnswer } from '../http/answer.ts';
import { type Exchange, vary } from '../http/exchange.ts';
import type { Middleware } from '../http/middleware.ts';
import { pageHeaders } from '../http/security-headers.ts';
import { splitTarget } from '../routes/address.ts';
import { type ReferencePart, readReference, type StaticFile } from './files.ts';

const allow = 'GET, HEAD, OPTIONS';

/**
 * Serves `/openapi.json` and the reference page under `/docs`, from a fixed list of files in memory. No project's limits apply
 * to these files (docs/adr/0015). The API answers all other paths.
 */
export function serveReference(part: ReferencePart): Middleware {
  const files = readReference(part);
  return async (request, response, next): Promise<void> => {
    const [path] = splitTarget(request.url);
    const found = files.get(path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path);
    if (!found) return next();
    response.locals.operation = 'gateway.reference';
    if (request.method === 'OPTIONS') {
      const headers = { Allow: allow };
      return writeAnswer(request, response, { status: 204, headers, body: new Uint8Array() });
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.locals.headers.Allow = allow;
      throw new ApiError('route/method-not-allowed');
    }
    await answerFile(request, response, found);
  };
}

async function answerFile(
  request: Request<Record<string, never>, unknown, unknown, unknown>,
  response: Response<unknown, Exchange>,
  found: StaticFile,
): Promise<void> {
  vary(response, 'Accept-Encoding');
  const isCompressed = request.acceptsEncodings('gzip', 'identity') === 'gzip';
  // Each encoding is a separate representation, so each has its own ETag (RFC 9110 section 8.8.3.3).
  const etag = `"${found.etag}${isCompressed ? '-gzip' : ''}"`;
  const headers: Record<string, string> = { ETag: etag, 'Cache-Control': 'no-cache' };
  // A 304 has no content type. But it needs the headers of a page, because they replace the headers that the client has stored
  // with the page.
  if (found.isPage) Object.assign(headers, pageHeaders);
  if (matches(request.headers['if-none-match'], etag)) {
    return writeAnswer(request, response, { status: 304, headers, body: new Uint8Array() });
  }
  headers['Content-Type'] = found.contentType;
  if (isCompressed) headers['Content-Encoding'] = 'gzip';
  const body = isCompressed ? await found.compressed() : found.body;
  writeAnswer(request, response, { status: 200, headers, body });
}

/** Whether the client already has this version (RFC 9110 section 13.1.2). */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag);
}
