import { ApiError } from '@kith/base';
import type { ErrorCode } from '@kith/contracts';

/** A failure of the service, or of the way to it, and not of the client. `reason` is its name in the metrics. */
export class UpstreamFailure extends ApiError {
  readonly reason: 'no_address' | 'connection_failed' | 'timeout' | 'invalid_answer' | 'unreadable_file';

  constructor(code: ErrorCode, reason: UpstreamFailure['reason'], cause: unknown) {
    super(code, { cause });
    this.reason = reason;
  }
}

/** The service has not done something in time. */
export function timedOut(why: string): UpstreamFailure {
  return new UpstreamFailure('gateway/timeout', 'timeout', new Error(why));
}

/** The gateway cannot read bytes to their end. `stored` is their place, as in `storedHeader`. */
export function unreadable(stored: string | undefined, cause: unknown): UpstreamFailure {
  const error = new Error(`The bytes ${stored} cannot be read: ${(cause as Error).message}`, { cause });
  return new UpstreamFailure('gateway/unavailable', 'unreadable_file', error);
}

/** The answer is not one that a service of Kith gives to a signed request. */
export function invalidAnswer(why: string): UpstreamFailure {
  return new UpstreamFailure('gateway/unavailable', 'invalid_answer', new Error(why));
}
