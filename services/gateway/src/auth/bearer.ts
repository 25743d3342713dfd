import { unauthorized } from './unauthorized.ts';

/** The form of an Authorization header with a token. The case of the scheme does not matter (RFC 9110 section 11.1). */
export const bearerForm = /^bearer +(\S+) *$/i;

/** The token of an Authorization header. Throws `auth/unauthorized` if there is none. */
export function bearerOf(authorization: string | undefined): string {
  const token = bearerForm.exec(authorization ?? '')?.[1];
  if (token === undefined) throw unauthorized(authorization ? 'not-bearer' : 'none');
  return token;
}
