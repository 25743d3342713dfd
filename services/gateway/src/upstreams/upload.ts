import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import { ApiError } from '@kith/base';
import { maxFormBytes, type Upload } from '@kith/contracts';
import { hasBody } from '../http/body.ts';

/**
 * Checks the headers of an upload. If the service would refuse the body, refuses the body before any byte is passed on. Throws
 * the code of the contract if the body is missing or too large, and a `request/` code for any other fault.
 */
export function checkUpload(request: IncomingMessage, upload: Upload): void {
  const { headers } = request;
  if (!hasBody(request)) throw new ApiError(upload.missing);
  const plain = (headers['content-encoding'] ?? 'identity').toLowerCase() === 'identity';
  const unwrapped = (headers['transfer-encoding'] ?? 'chunked').toLowerCase() === 'chunked';
  const boundary = boundaryOf(headers['content-type']);
  if (!plain || !unwrapped || boundary === undefined) {
    throw new ApiError('request/unsupported-media-type', {
      message: 'Send the file as multipart/form-data.',
    });
  }
  if (boundary === '') throw new ApiError('request/invalid-multipart');
  if (Number(headers['content-length'] ?? 0) > upload.maxBytes + maxFormBytes)
    throw new ApiError(upload.tooLarge);
}

/** The boundary in the content type of a form; empty if there is none. Undefined if the body is not a form. */
function boundaryOf(contentType: string | undefined): string | undefined {
  if (contentType === undefined) return undefined;
  try {
    const type = new MIMEType(contentType);
    return type.essence === 'multipart/form-data' ? (type.params.get('boundary') ?? '') : undefined;
  } catch {
    return undefined;
  }
}
