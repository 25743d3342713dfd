import { z } from 'zod';
import { passkeyAssertion } from './passkey-json.ts';

/** The proof of a second factor: a code of an authenticator app, a recovery code, or a passkey. */
export const secondFactor = {
  code: z.string().min(1, 'must not be empty.').max(64, 'must be at most 64 characters long.').nullish(),
  passkey: passkeyAssertion.nullish(),
};
