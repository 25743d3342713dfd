import { unauthorized } from './unauthorized.ts';

/** The token of an Authorization header; the scheme in any case (RFC 9110 section 11.1). Throws `auth/unauthorized`. */
export function bearerOf(authorization: string | undefined): string {
  const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw unauthorized(authorization ? 'not-bearer' : 'none');
  return token;
}
