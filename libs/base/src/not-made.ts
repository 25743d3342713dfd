import { ApiError } from './errors.ts';

/**
 * Returns the error to report if something fails after a change was made. `gateway/unavailable` would wrongly say that nothing
 * was changed, so it becomes `gateway/timeout`. Other errors stay as they are.
 */
export function failedAfterChange(error: unknown): unknown {
  const saysNothing = error instanceof ApiError && error.code === 'gateway/unavailable';
  return saysNothing ? new ApiError('gateway/timeout', { cause: error }) : error;
}

/** The error for a change that was not made before its deadline, because other changes came first (spec#errors-unavailable). */
export function notMade(): ApiError {
  return new ApiError('gateway/unavailable', {
    message:
      'Other requests kept changing the same data at the same time, so this request changed nothing. Try again in a second.',
  });
}
