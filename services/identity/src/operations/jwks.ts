import { getJwks } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';

/**
 * Returns the public keys (spec#accounts-jwks). They are read from memory, so that programs which verify tokens get the keys
 * even if the database cannot be reached.
 */
export const getJwksHandler = handler(
  getJwks,
  async (request, app: AppContext) => {
    await app.keys.settled().catch(() => undefined);
    request.setHeader('Cache-Control', 'public, max-age=300');
    return { keys: [...app.tokens.publicKeys] };
  },
  { places: 'none' },
);
