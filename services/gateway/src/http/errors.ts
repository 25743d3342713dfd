import { ApiError, type Logger } from '@kith/base';
import { type ErrorCode, errorBody, statusOf } from '@kith/contracts';
import { cutOff, writeAnswer } from './answer.ts';
import { errorAnswer } from './error-answer.ts';
import { type HttpRequest, type HttpResponse, logFieldsOf } from './exchange.ts';

/** The headers that an error code always brings, wherever the code is thrown. */
const headersOf: { readonly [Code in ErrorCode]?: Record<string, string> } = {
  'auth/unauthorized': { 'WWW-Authenticate': 'Bearer' },
  'gateway/unavailable': { 'Retry-After': '1' },
};

/**
 * The gateway's only error funnel. An `ApiError` becomes the envelope of its code. Any other error is logged and becomes
 * `gateway/server-error`.
 */
export function answerError(request: HttpRequest, response: HttpResponse, error: unknown, log: Logger): void {
  const known = error instanceof ApiError ? error : new ApiError('gateway/server-error');
  const { code } = known;
  if (code === 'gateway/server-error') {
    log.error({ err: error, ...logFieldsOf(response) }, 'request failed');
  }
  if (response.headersSent) {
    // Part of an answer is already sent. Closing the connection cuts the answer off, so nobody takes it for a whole answer.
    cutOff(response);
    return;
  }
  response.locals.code = code;
  const { message, field, errors } = known;
  const body = errorBody(code, { message, ...(field && { field }), ...(errors && { errors }) });
  const headers = headersOf[code] ?? {};
  writeAnswer(request, response, errorAnswer(request, response, { status: statusOf(code), headers, body }));
}
