import { ApiError } from '@kith/base';
import { NoResponders, RequestTimeout } from '@kith/bus';

/** Turns the failure of a question into 503 if nobody serves it, or 504 if nobody answers it; leaves any other failure unchanged. */
export function busFailure(error: unknown): unknown {
  if (error instanceof NoResponders) return new ApiError('gateway/unavailable', { cause: error });
  if (error instanceof RequestTimeout) return new ApiError('gateway/timeout', { cause: error });
  return error;
}
