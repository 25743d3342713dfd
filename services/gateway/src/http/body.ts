import type { IncomingMessage, ServerResponse } from 'node:http';
import { MIMEType } from 'node:util';
import { ApiError } from '@kith/base';
import { checkRefused, onRefused } from './refused-body.ts';

/** Largest JSON body, in bytes (spec#requests-too-large). */
export const maxBody = 256 * 1024;

const none = new Uint8Array();

/**
 * Reads a request's body. The body has to be JSON by its type, in UTF-8, not compressed, and at most 256 KiB long. The service
 * checks the content. A missing body counts as empty, no matter which type the headers name. The body of a GET or HEAD is
 * ignored. Throws `request/unsupported-media-type` or `request/too-large`. If a header is enough to decide, throws before it
 * reads the body. If the body is refused meanwhile, throws the error of the refusal (see refused-body).
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
): Uint8Array | Promise<Uint8Array> {
  if (!hasBody(request)) return none;
  checkRefused(request);
  if (request.method === 'GET' || request.method === 'HEAD') return none;
  const isRefused = new Promise<never>((_, reject) => onRefused(request, reject));
  return Promise.race([readWhole(request, response), isRefused]);
}

async function readWhole(request: IncomingMessage, response: ServerResponse): Promise<Uint8Array> {
  const refused = refusal(request);
  const declared = request.headers['content-length'];
  // If the media type or the encoding is not allowed, a body with a declared length is refused unread. A chunked body is read,
  // because it may turn out to be empty.
  if (refused && declared !== undefined) throw new ApiError(refused);
  if (Number(declared) > maxBody) throw new ApiError('request/too-large');
  if (expectsContinue(request)) response.writeContinue();

  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // If the loop ends early, it must not destroy the stream, because that would close the connection before the answer is
    // sent.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (refused && size > 0) throw new ApiError(refused);
      if (size > maxBody) throw new ApiError('request/too-large');
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ApiError) {
      // Reads the rest, and drops it. Otherwise it would stay unread, and a client that first sends everything would get a
      // broken connection instead of the answer.
      request.resume();
      throw error;
    }
    // The connection broke, or the bytes are not HTTP. The HTTP server handles both cases.
    throw new ApiError('request/invalid-http', { cause: error });
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
}

/** Whether a request announces a body that may have content. */
export function hasBody(request: IncomingMessage): boolean {
  return (
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
  );
}

/** Whether the client waits for a `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
export function expectsContinue(request: IncomingMessage): boolean {
  return request.httpVersion === '1.1' && request.headers.expect?.toLowerCase() === '100-continue';
}

function refusal(request: IncomingMessage): 'request/unsupported-media-type' | undefined {
  const { headers } = request;
  const plain = (headers['content-encoding'] ?? 'identity').toLowerCase() === 'identity';
  const unwrapped = (headers['transfer-encoding'] ?? 'chunked').toLowerCase() === 'chunked';
  return plain && unwrapped && isJson(headers['content-type']) ? undefined : 'request/unsupported-media-type';
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  try {
    const type = new MIMEType(contentType);
    const charset = type.params.get('charset')?.toLowerCase() ?? 'utf-8';
    return type.essence === 'application/json' && (charset === 'utf-8' || charset === 'utf8');
  } catch {
    return false;
  }
}
