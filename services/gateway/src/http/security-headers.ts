import type { ServerResponse } from 'node:http';
import helmet from 'helmet';
import type { HttpResponse } from './exchange.ts';

/**
 * The headers of every answer. They tell browsers that an answer is neither a page nor a part of a page. OWASP's REST Security
 * Cheat Sheet recommends them for JSON (spec#edges-headers). In addition to these headers, an answer has
 * `Cache-Control: no-store` and the type of its body.
 */
export const ofEveryAnswer: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none';frame-ancestors 'none'",
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** The policy of this server's pages: a page may load files of this server and call this server. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Further headers of a page: helmet's headers, and `Permissions-Policy`, which says that the page uses no camera, microphone or
 * other device feature (spec#edges-page-headers).
 */
export const pageHeaders: Readonly<Record<string, string>> = {
  ...helmetHeaders(),
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};

/**
 * Sets the headers of every answer, before all other headers. The function copies an object that already has these headers,
 * because V8 handles such a copy fast. If they were added to an object one by one, setting all headers of an answer would cost
 * four times as much (4.0 instead of 1.1 µs).
 */
export function secure(response: HttpResponse): void {
  response.locals.headers = { ...ofEveryAnswer, ...response.locals.headers };
}

/** The headers that an answer of this type has in addition to `ofEveryAnswer`. */
export function headersOfType(contentType: string | undefined): Readonly<Record<string, string>> | undefined {
  return contentType?.startsWith('text/html') ? pageHeaders : undefined;
}

function helmetHeaders(): Record<string, string> {
  const middleware = helmet({ contentSecurityPolicy: false, frameguard: { action: 'deny' } });
  const headers = new Map<string, string>([['Content-Security-Policy', pagePolicy]]);
  const recorder = {
    setHeader: (name: string, value: string) => headers.set(name, value),
    removeHeader: (name: string) => headers.delete(name),
  };
  let isDone = false;
  middleware({} as never, recorder as unknown as ServerResponse, () => {
    isDone = true;
  });
  // The headers are made once and used for all answers. So helmet must not depend on the request, and must not set them
  // asynchronously.
  if (!isDone) throw new Error('helmet did not set its headers synchronously.');
  return Object.fromEntries(headers);
}
