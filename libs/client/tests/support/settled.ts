import { KithError, KithNetworkError } from '../../src/index.ts';

/** The outcome of a call as JSON: its answer, or the fields of its failure. */
export async function settled(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    return { answer: (await call) ?? null };
  } catch (error) {
    if (error instanceof KithError) {
      const { status, code, field = null, retryAfterMs = null } = error;
      return { status, code, field, retryAfterMs };
    }
    if (error instanceof KithNetworkError)
      return { isTimeout: error.isTimeout, hasCause: error.cause !== undefined };
    return { failure: `${(error as Error).name}: ${(error as Error).message}` };
  }
}
