import { ApiError } from '@kith/base';
import { NoResponders, RequestTimeout } from '@kith/bus';
import { statusOf } from '@kith/contracts';

/**
 * Translates a failure on the bus. The result is 503 if no process of the service is there, and 504 if the service does not
 * answer in time. Returns any other failure unchanged.
 */
export function busFailure(error: unknown): unknown {
  if (error instanceof NoResponders) return new ApiError('gateway/unavailable', { cause: error });
  if (error instanceof RequestTimeout) return new ApiError('gateway/timeout', { cause: error });
  return error;
}

/**
 * Translates a failure of a request that the gateway itself sends to a service while it handles a client's request. An
 * unexpected failure of the service becomes 503, as if no process of the service were there. The codes of this service cannot
 * be used, because they are not among the codes of the client's operation.
 */
export function questionFailure(error: unknown): unknown {
  return isFailure(error) ? new ApiError('gateway/unavailable', { cause: error }) : busFailure(error);
}

/**
 * Whether an error means that a caller could not be checked, for example because identity is away. Such an error does not mean
 * that the caller is refused. So an export or a stream that has already begun goes on.
 */
export function isFailure(error: unknown): error is ApiError {
  return error instanceof ApiError && statusOf(error.code) >= 500;
}
