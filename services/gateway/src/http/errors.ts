import { ApiError, type Logger } from '@kith/base';
import { type ErrorCode, errorBody, statusOf } from '@kith/contracts';
import { cutOff, writeAnswer } from './answer.ts';
import { errorAnswer } from './error-answer.ts';
import { type HttpRequest, type HttpResponse, logFieldsOf } from './exchange.ts';
import { refusalOf } from './refused-body.ts';

/** For an error code: the headers of every answer with this code, wherever the code is thrown. */
const headersOf: { readonly [Code in ErrorCode]?: Record<string, string> } = {
  'auth/unauthorized': { 'WWW-Authenticate': 'Bearer' },
  'gateway/unavailable': { 'Retry-After': '1' },
};

/**
 * Answers every error of the gateway. An `ApiError` becomes the envelope of its code. Any other error is logged and becomes
 * `gateway/server-error`.
 */
export function answerError(request: HttpRequest, response: HttpResponse, error: unknown, log: Logger): void {
  const thrown = error instanceof ApiError ? error : new ApiError('gateway/server-error');
  if (thrown.code === 'gateway/server-error') {
    log.error({ err: error, ...logFieldsOf(response) }, 'request failed');
  }
  // The error of a malformed or late request replaces any other error of this request.
  const known = refusalOf(request) ?? thrown;
  if (response.headersSent) {
    // Part of an answer is already sent. Closing the connection cuts the answer off, so the client sees that the answer is not
    // complete.
    cutOff(response);
    return;
  }
  const { code, message, field, errors } = known;
  response.locals.code = code;
  const body = errorBody(code, { message, ...(field && { field }), ...(errors && { errors }) });
  const headers = headersOf[code] ?? {};
  writeAnswer(request, response, errorAnswer(request, response, { status: statusOf(code), headers, body }));
}
