import { ApiError } from '@kith/base';

/** The messages that say why a token is refused (spec#errors-unauthorized-reason). All these refusals have the same code. */
const sentences = {
  none: 'No token was sent. Send one as Authorization: Bearer <token>.',
  'not-bearer': 'The Authorization header has no bearer token. Send Authorization: Bearer <token>.',
  malformed: 'The access token is malformed. Send it as it was issued.',
  expired: 'The access token has expired. Refresh the session.',
  revoked: 'The access token was revoked. Sign in again.',
  foreign: 'Another server has signed this access token. Sign in to this server.',
  'other-kind': 'This is another kind of token. Send the access token of a session.',
  'not-operator': 'This endpoint takes the token of an operator, not an access token.',
  'expired-key': 'The key has expired. Make another one.',
  'wrong-server-key': 'There is no such server key. Check it, or make another one.',
  'wrong-operator': 'The token does not belong to an operator of this server.',
} as const;

export function unauthorized(reason: keyof typeof sentences, cause?: unknown): ApiError {
  return new ApiError('auth/unauthorized', { message: sentences[reason], cause });
}
