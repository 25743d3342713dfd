import { ApiError } from '@kith/base';
import { NoResponders, RequestTimeout } from '@kith/bus';

/**
 * Translates a failure on the bus: 503 if no service takes the request, 504 if no service answers it. Returns any other failure
 * unchanged.
 */
export function busFailure(error: unknown): unknown {
  if (error instanceof NoResponders) return new ApiError('gateway/unavailable', { cause: error });
  if (error instanceof RequestTimeout) return new ApiError('gateway/timeout', { cause: error });
  return error;
}
