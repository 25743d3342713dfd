import { replayedHeader } from '@kith/bus';
import { listsOrigin } from '@kith/contracts';
import cors from 'cors';
import { isAdmin, projectIn } from '../routes/address.ts';
import type { ProjectSettings } from '../tables/project-settings.ts';
import type { HttpRequest, HttpResponse } from './exchange.ts';

/** Of an answer's headers, a page of another origin may read these (spec#cors-exposed, spec#cors-exposed-replayed). */
const exposedHeaders = [
  'Link',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
  replayedHeader,
];
const exposed = exposedHeaders.join(',');
const allowOrigin = 'Access-Control-Allow-Origin';
const allowCredentials = 'Access-Control-Allow-Credentials';
const allowing = (origin: string) => ({ [allowOrigin]: origin, [allowCredentials]: 'true' });
const preflightSeconds = 7200;

type Origins = '*' | readonly string[];
/**
 * The origins that may call the addresses of operators. Only the origin of a console may do so, and there is no console yet
 * (spec#cors-admin).
 */
const ofConsole: Origins = [];

/**
 * Tells browsers which pages may call this server. If the project in the address lists web origins, pages of these origins may
 * call. If the project lists none, the server's own list decides, in which `*` means any origin (spec#cors-origins). The answer
 * names the allowed origin itself, because browsers accept no `*` for requests with credentials (spec#cors-credentials).
 */
export class AllowedOrigins {
  readonly #others: Origins;
  readonly #projects: Pick<ProjectSettings, 'of'>;
  /** Sets the headers of answers to OPTIONS, whether they are preflights or not. Uses the cors library. */
  readonly preflight;

  constructor(options: { origins: readonly string[]; projects: Pick<ProjectSettings, 'of'> }) {
    this.#others = options.origins.includes('*') ? '*' : options.origins;
    this.#projects = options.projects;
    this.preflight = cors<HttpRequest>((request, done) => {
      const origins = isAdmin(request.url) ? ofConsole : this.#originsOf(projectIn(request.url));
      const isAllowed = allows(origins, request.headers.origin);
      done(null, {
        origin: isAllowed ? true : [],
        credentials: isAllowed,
        ...headersBut(request, 'on-behalf-of'),
        methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
        exposedHeaders,
        maxAge: preflightSeconds,
        preflightContinue: true,
      });
    });
  }

  /**
   * Sets the headers of answers to all other methods. `at` says which project the address names, or that the address is an
   * operators' address.
   */
  allow(
    request: HttpRequest,
    response: HttpResponse,
    at: { projectId: string | null; isAdmin: boolean },
  ): void {
    const { headers } = response.locals;
    headers.Vary = 'Origin';
    const { origin } = request.headers;
    // Without the header `Origin`, the request does not come from a page of another origin and needs none of the other headers.
    if (origin === undefined) return;
    headers['Access-Control-Expose-Headers'] = exposed;
    const origins = at.isAdmin ? ofConsole : this.#originsOf(at.projectId);
    if (allows(origins, origin)) Object.assign(headers, allowing(origin));
  }

  #originsOf(projectId: string | null): Origins {
    const { webOrigins } = this.#projects.of(projectId);
    return webOrigins.length > 0 ? webOrigins : this.#others;
  }
}

/**
 * The headers that a page asks to send, without the forbidden header. If the page does not ask for the forbidden header, the
 * result is `{}`. The cors library then allows all headers that the page asks for. Pages may not send `On-Behalf-Of`, because
 * this header is only for server keys, and server keys belong on servers. Servers send no preflights (spec#server-keys-pages).
 */
function headersBut(request: HttpRequest, forbidden: string): { allowedHeaders?: string[] } {
  const asked = request.headers['access-control-request-headers']?.split(',').map((name) => name.trim());
  const isAsked = asked?.some((name) => name.toLowerCase() === forbidden);
  if (!asked || !isAsked) return {};
  return { allowedHeaders: asked.filter((name) => name.toLowerCase() !== forbidden) };
}

function allows(origins: Origins, origin: string | undefined): boolean {
  return origin !== undefined && (origins === '*' || listsOrigin(origins, origin));
}

/**
 * Applies a project's web origins to an answer under a short form. The address of a short form does not name the project. So
 * when the preflight was answered, only the server's list could be used.
 */
export function narrowOrigins(
  request: HttpRequest,
  response: HttpResponse,
  webOrigins: readonly string[],
): void {
  const { origin } = request.headers;
  if (webOrigins.length === 0 || origin === undefined) return;
  const { headers } = response.locals;
  delete headers[allowOrigin];
  delete headers[allowCredentials];
  if (listsOrigin(webOrigins, origin)) Object.assign(headers, allowing(origin));
}
