import type { ServerResponse } from 'node:http';
import helmet from 'helmet';
import type { HttpResponse } from './exchange.ts';

/**
 * What every answer tells browsers, as OWASP's REST Security Cheat Sheet has it for JSON (spec#edges-headers): it is never a page, nor
 * part of one. With them go `Cache-Control: no-store` and the type of the body.
 */
const ofEveryAnswer: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none';frame-ancestors 'none'",
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** What the pages of this server may do: run the files beside them, and call this server. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Further headers of a page: helmet's, and one that says it uses no camera, microphone or other device feature
 * (spec#edges-page-headers).
 */
export const pageHeaders: Readonly<Record<string, string>> = {
  ...helmetHeaders(),
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};

/**
 * Sets the headers of every answer. They are put first: an object that is copied keeps its shape, one that gets many names more
 * loses it, and all headers of an answer then cost four times as much to set (4.0 and 1.1 µs).
 */
export function secure(response: HttpResponse): void {
  response.locals.headers = { ...ofEveryAnswer, ...response.locals.headers };
}

/** The headers that an answer of this type has beside those of every answer. */
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
  // A helmet that looks at the request, or waits for something, is none whose answer can be kept.
  if (!isDone) throw new Error('helmet has not set its headers at once.');
  return Object.fromEntries(headers);
}
