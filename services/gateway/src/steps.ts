import type { Logger, Metrics } from '@kith/service';
import { accessLog } from './access-log.ts';
import { AllowedOrigins } from './cors.ts';
import { answerError } from './errors.ts';
import type { HttpRequest, HttpResponse } from './exchange.ts';
import { createHandle, type HandleParts } from './handle.ts';
import { checkHttpRules } from './http-rules.ts';
import { securityHeaders } from './security-headers.ts';

export type StepParts = HandleParts & { log: Logger; metrics: Metrics; corsOrigins: readonly string[] };

/** What is done with a request, in the order of their names here. `direct.ts` and `app.ts` are the two who do it. */
export interface Steps {
  /** Gives it its id, and sees to its log line and measurement. */
  begin(request: HttpRequest, response: HttpResponse): void;
  /** Sets the headers that browsers go by. */
  secure(response: HttpResponse): void;
  origins: AllowedOrigins;
  /** Holds it against HTTP's own rules. */
  check(request: HttpRequest): void;
  /** Answers it, as an address of the API. */
  handle(request: HttpRequest, response: HttpResponse): Promise<void>;
  /** Answers what any of them has thrown. */
  fail(request: HttpRequest, response: HttpResponse, error: unknown): void;
}

export function createSteps(parts: StepParts): Steps {
  const { log, corsOrigins, projects } = parts;
  return {
    begin: accessLog(parts),
    secure: securityHeaders(),
    origins: new AllowedOrigins({ origins: corsOrigins, projects }),
    check: checkHttpRules,
    handle: createHandle(parts),
    fail: (request, response, error) => answerError(request, response, error, log),
  };
}
