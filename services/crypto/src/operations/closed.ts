import { ApiError } from '@kith/base';
import type { OperationSpec } from '@kith/contracts';
import { handler } from '@kith/service';
import { z } from 'zod';
import type { AppContext } from '../app.ts';

/**
 * Makes the handler of an operation that is switched off because test tokens are not allowed. The handler answers as if the
 * route did not exist, no matter which body a request has (spec#test-tokens-production).
 */
export function closed(spec: OperationSpec) {
  return handler({ ...spec, body: z.object({}) }, async (_, _app: AppContext) => {
    throw new ApiError('route/not-found');
  });
}
