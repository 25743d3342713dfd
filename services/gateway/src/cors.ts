import cors from 'cors';
import { projectIn } from './address.ts';
import type { HttpRequest, HttpResponse } from './exchange.ts';
import type { ProjectSettings } from './project-settings.ts';

/** What a page of another origin may read of an answer (SPEC A7). */
const exposedHeaders = [
  'Link',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];
const preflightSeconds = 7200;

/**
 * Tells browsers which pages may call: those of the web origins that the address's project lists, else those of the
 * server's own list, where `*` is any (SPEC A7, B7).
 */
export function allowOrigins(options: { origins: string[]; projects: Pick<ProjectSettings, 'of'> }) {
  const others = options.origins.includes('*') ? '*' : options.origins;
  return cors<HttpRequest>((request, done) => {
    const { webOrigins } = options.projects.of(projectIn(request.url));
    done(null, {
      origin: webOrigins.length > 0 ? webOrigins : others,
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      exposedHeaders,
      maxAge: preflightSeconds,
      preflightContinue: true,
    });
  });
}

/**
 * Goes by a project's web origins in an answer under a short form, whose project was not in the address: the preflight
 * could go by the server's list only.
 */
export function narrowOrigins(
  request: HttpRequest,
  response: HttpResponse,
  webOrigins: readonly string[],
): void {
  if (webOrigins.length === 0) return;
  response.vary('Origin');
  const { origin } = request.headers;
  if (origin !== undefined && webOrigins.includes(origin))
    response.setHeader('Access-Control-Allow-Origin', origin);
  else response.removeHeader('Access-Control-Allow-Origin');
}
