import cors from 'cors';
import { projectIn } from '../routes/address.ts';
import type { ProjectSettings } from '../tables/project-settings.ts';
import { type HttpRequest, type HttpResponse, vary } from './exchange.ts';

/** What a page of another origin may read of an answer (spec#cors-exposed). */
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
const exposed = exposedHeaders.join(',');
const allowOrigin = 'Access-Control-Allow-Origin';
const preflightSeconds = 7200;

/**
 * Tells browsers which pages may call: those of the web origins that the address's project lists, else those of the
 * server's own list, where `*` is any (spec#cors-origins).
 */
export class AllowedOrigins {
  readonly #others: '*' | readonly string[];
  readonly #projects: Pick<ProjectSettings, 'of'>;
  /** Answers OPTIONS, of a preflight or not, as the library does. */
  readonly preflight;

  constructor(options: { origins: readonly string[]; projects: Pick<ProjectSettings, 'of'> }) {
    this.#others = options.origins.includes('*') ? '*' : options.origins;
    this.#projects = options.projects;
    this.preflight = cors<HttpRequest>((request, done) => {
      const origins = this.#originsOf(projectIn(request.url));
      done(null, {
        origin: origins === '*' ? '*' : [...origins],
        methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
        exposedHeaders,
        maxAge: preflightSeconds,
        preflightContinue: true,
      });
    });
  }

  /** Sets the headers of any other answer, at an address of this project. */
  allow(request: HttpRequest, response: HttpResponse, projectId: string | null): void {
    const { headers } = response.locals;
    headers['Access-Control-Expose-Headers'] = exposed;
    const origins = this.#originsOf(projectId);
    if (origins === '*') headers[allowOrigin] = '*';
    else allowOne(request, response, origins);
  }

  #originsOf(projectId: string | null): '*' | readonly string[] {
    const { webOrigins } = this.#projects.of(projectId);
    return webOrigins.length > 0 ? webOrigins : this.#others;
  }
}

function allowOne(request: HttpRequest, response: HttpResponse, origins: readonly string[]): void {
  vary(response, 'Origin');
  const { origin } = request.headers;
  if (origin !== undefined && origins.includes(origin)) response.locals.headers[allowOrigin] = origin;
  else delete response.locals.headers[allowOrigin];
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
  if (webOrigins.length > 0) allowOne(request, response, webOrigins);
}
