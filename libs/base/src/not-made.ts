import { ApiError } from './errors.ts';

/** The error for a change that was not made in time because of other changes (spec#errors-unavailable). */
export function notMade(): ApiError {
  return new ApiError('gateway/unavailable', {
    message:
      'Other requests kept changing this at the same time. Nothing was changed. Try again in a second.',
  });
}
