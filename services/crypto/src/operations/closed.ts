import { ApiError } from '@kith/base';
import type { OperationSpec } from '@kith/contracts';
import { handler } from '@kith/service';
import { z } from 'zod';
import type { AppContext } from '../app.ts';

/**
 * Answers like a route that does not exist, whatever the body says: test tokens are off here
 * (spec#test-tokens-production).
 */
export function closed(spec: OperationSpec) {
  return handler({ ...spec, body: z.object({}) }, async (_, _app: AppContext) => {
    throw new ApiError('route/not-found');
  });
}
