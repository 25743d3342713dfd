import type { ApiError } from '@kith/base';
import { codeHeader, type Message, shedHeader, statusHeader } from '@kith/bus';
import { type ErrorCode, errorBody, statusOf } from '@kith/contracts';

const encoder = new TextEncoder();

/**
 * A successful reply: status, JSON bytes and further HTTP headers. With status 204, there is no body. If a content type is
 * given, the body is a text of this type instead of JSON.
 */
export function successReply(
  status: number,
  output: unknown,
  headers: Record<string, string>,
  contentType?: string,
): Message {
  if (status === 204) return { headers: { [statusHeader]: '204', ...headers }, body: new Uint8Array() };
  if (contentType) {
    return {
      headers: { [statusHeader]: String(status), 'Content-Type': contentType, ...headers },
      body: encoder.encode(String(output)),
    };
  }
  return {
    headers: { [statusHeader]: String(status), 'Content-Type': 'application/json', ...headers },
    body: encoder.encode(JSON.stringify(output)),
  };
}

/** The error envelope as a reply. */
export function errorReply(
  code: ErrorCode,
  error?: Pick<ApiError, 'message' | 'field' | 'details'> & Partial<Pick<ApiError, 'errors' | 'headers'>>,
): Message {
  return {
    headers: {
      [statusHeader]: String(statusOf(code)),
      [codeHeader]: code,
      'Content-Type': 'application/json',
      ...(code === 'gateway/unavailable' && { 'Retry-After': '1' }),
      ...error?.headers,
    },
    body: encoder.encode(
      JSON.stringify(
        errorBody(code, {
          ...(error ? { message: error.message } : {}),
          ...(error?.field ? { field: error.field } : {}),
          ...(error?.errors ? { errors: error.errors } : {}),
          ...(error?.details ? { details: error.details } : {}),
        }),
      ),
    ),
  };
}

/** The reply to a request that is turned away before its body is read. */
export function shedReply(): Message {
  const { headers, body } = errorReply('gateway/unavailable');
  return { headers: { ...headers, [shedHeader]: '1' }, body };
}
