import { type OutputOf, rotateKeys } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Makes the next signing key of access tokens, and returns all keys, newest first (spec#signing-keys-rotate). */
export const rotateKeysHandler = handler(rotateKeys, async (_request, app: AppContext) => {
  await app.keys.rotate();
  return keysAnswer(app);
});

/** The present keys, newest first. */
export function keysAnswer({ keys }: AppContext): OutputOf<typeof rotateKeys> {
  return {
    keys: keys.current().map((key) => ({
      kid: key.kid,
      state: keys.stateOf(key),
      createdAt: key.createdAt.toISOString(),
      signsFrom: key.signsFrom.toISOString(),
    })),
  };
}
