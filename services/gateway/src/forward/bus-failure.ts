import { ApiError } from '@kith/base';
import { NoResponders, RequestTimeout } from '@kith/bus';
import { statusOf } from '@kith/contracts';

/**
 * Translates a failure on the bus: 503 if no service takes the request, 504 if no service answers it. Returns any other failure
 * unchanged.
 */
export function busFailure(error: unknown): unknown {
  if (error instanceof NoResponders) return new ApiError('gateway/unavailable', { cause: error });
  if (error instanceof RequestTimeout) return new ApiError('gateway/timeout', { cause: error });
  return error;
}

/**
 * Translates a failure of a question that the gateway itself asks about a request. An unexpected failure of the asked service
 * counts as its absence (503): the request's own operation does not answer with codes of that service.
 */
export function questionFailure(error: unknown): unknown {
  return isFailure(error) ? new ApiError('gateway/unavailable', { cause: error }) : busFailure(error);
}

/**
 * Whether nobody could say if a caller is allowed, for example while identity is away. Such an error refuses nothing, so what
 * has begun goes on.
 */
export function isFailure(error: unknown): error is ApiError {
  return error instanceof ApiError && statusOf(error.code) >= 500;
}
