import { ApiError } from '@kith/base';
import { NoResponders, RequestTimeout } from '@kith/bus';

/** Turns a question that nobody serves, or that nobody answers, into 503 and 504; any other failure stays itself. */
export function busFailure(error: unknown): unknown {
  if (error instanceof NoResponders) return new ApiError('gateway/unavailable', { cause: error });
  if (error instanceof RequestTimeout) return new ApiError('gateway/timeout', { cause: error });
  return error;
}
