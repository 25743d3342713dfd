import { hash } from 'node:crypto';
import { apiKeyKindOf } from '@kith/base';
import { uuid } from '@kith/contracts';
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose';
import { z } from 'zod';
import type { AccessToken } from './access-token.ts';
import { type KeySet, type Keys, tokenAlgorithm } from './keys.ts';
import type { Revocations } from './revocations.ts';
import { unauthorized } from './unauthorized.ts';

/** The allowed form of an id. Ids go into header lines of the bus, so they may contain only visible ASCII characters. */
const id = z.string().regex(/^[\x21-\x7e]{1,128}$/);
const claims = z
  .object({
    sub: uuid,
    projectId: uuid,
    sid: id,
    role: z.string().max(64),
    jti: id,
    iat: z.number(),
    exp: z.number(),
  })
  .transform(
    ({ sub, projectId, sid, role, iat, exp }): Omit<AccessToken, 'keyId'> => ({
      userId: sub,
      projectId,
      sessionId: sid,
      role,
      issuedAt: iat,
      expiresAt: exp,
    }),
  );
/**
 * The longest lifetime of an access token that identity issues (spec#accounts-access-token). Such a token is valid for 30
 * minutes. One minute is added, because machines may round times differently.
 */
const longestLifeSeconds = 31 * 60;
const requiredClaims = ['sub', 'projectId', 'sid', 'role', 'jti', 'iat', 'exp', 'iss', 'aud'];

export interface TokenVerifierOptions {
  keys: Pick<Keys, 'current' | 'having'>;
  issuer: string;
  audience: string;
  /** The revocations are checked for every token, even if the token comes from the cache (ARCHITECTURE, decision 11). */
  revocations?: Pick<Revocations, 'isLoaded' | 'loaded' | 'check' | 'hasKey'>;
  /** The maximum number of tokens in the cache. */
  cacheSize?: number;
  /** The clock by which tokens expire: returns ms since 1970. By default, the clock of the machine. */
  now?: (() => number) | undefined;
}

/**
 * Verifies access tokens. A verified token is cached under its SHA-256 until it expires or the keys change. After a change of
 * the keys, cached tokens are verified again, because tokens of a key that is no longer in use must not be accepted.
 */
export class TokenVerifier {
  readonly #options: TokenVerifierOptions;
  readonly #cacheSize: number;
  readonly #now: () => number;
  readonly #cache = new Map<string, { token: AccessToken; keys: KeySet }>();

  constructor(options: TokenVerifierOptions) {
    this.#options = options;
    this.#cacheSize = options.cacheSize ?? 10_000;
    this.#now = options.now ?? Date.now;
  }

  /**
   * Throws `auth/unauthorized` for an invalid token, and `auth/suspended` for a token of a suspended user. Throws
   * `gateway/unavailable` while the keys or the revocations are not known yet.
   */
  async verify(text: string): Promise<AccessToken> {
    const digest = hash('sha256', text, 'base64');
    const token = this.#cached(digest) ?? (await this.#verifyAnew(text, digest));
    const { revocations } = this.#options;
    if (revocations && !revocations.isLoaded) await revocations.loaded();
    revocations?.check(token);
    return token;
  }

  #cached(digest: string): AccessToken | undefined {
    const entry = this.#cache.get(digest);
    if (!entry) return undefined;
    this.#cache.delete(digest);
    if (entry.keys !== this.#options.keys.current || entry.token.expiresAt * 1000 <= this.#now())
      return undefined;
    // Puts the entry back at the end. So the first entry of the map is always the least recently used one.
    this.#cache.set(digest, entry);
    return entry.token;
  }

  async #verifyAnew(text: string, digest: string): Promise<AccessToken> {
    const keyId = keyIdOf(text);
    const keys = await this.#options.keys.having(keyId);
    const { issuer, audience, revocations } = this.#options;
    let token: AccessToken;
    try {
      const verified = await jwtVerify(text, keys.find, {
        algorithms: [tokenAlgorithm],
        issuer,
        audience,
        requiredClaims,
        currentDate: new Date(this.#now()),
      });
      token = { ...claims.parse(verified.payload), keyId };
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey && this.#claimsToBeExpired(text)) {
        throw unauthorized('expired', new errors.JWTExpired(error.message, {}, 'exp', 'check_failed'));
      }
      if (error instanceof errors.JOSEError || error instanceof z.ZodError) {
        throw unauthorized(revocations?.hasKey(keyId) ? 'revoked' : reasonOf(error), error);
      }
      throw error;
    }
    if (token.expiresAt - token.issuedAt > longestLifeSeconds) throw unauthorized('other-kind');
    this.#cache.set(digest, { token, keys });
    if (this.#cache.size > this.#cacheSize) this.#cache.delete(this.#cache.keys().next().value as string);
    return token;
  }

  /**
   * For a token whose key is unknown: whether the token claims to come from this server and to have expired. Identity removes a
   * key some time after replacing it. So the token of a client that was offline for a long time cannot be verified. Even then,
   * the client must learn that it has to refresh (spec#short-forms-expired). The unverified claims grant nothing. They only
   * decide with which error the token is refused.
   */
  #claimsToBeExpired(text: string): boolean {
    const { issuer, audience } = this.#options;
    try {
      const { iss, aud, exp } = decodeJwt(text);
      return iss === issuer && aud === audience && typeof exp === 'number' && exp * 1000 <= this.#now();
    } catch {
      return false;
    }
  }
}

/**
 * The id of the key that a token names. A text that does not look like one of our access tokens is refused here, before any key
 * is fetched.
 */
function keyIdOf(text: string): string {
  let header: ReturnType<typeof decodeProtectedHeader>;
  try {
    header = decodeProtectedHeader(text);
  } catch (error) {
    const isOtherKind = refreshTokenForm.test(text) || apiKeyKindOf(text) !== undefined;
    throw unauthorized(isOtherKind ? 'other-kind' : 'malformed', error);
  }
  if (header.alg !== tokenAlgorithm) throw unauthorized('foreign');
  // Our own tokens name their key. A token that names no key comes from a project's own backend.
  if (typeof header.kid !== 'string') throw unauthorized('other-kind');
  return header.kid;
}

/** The form of refresh tokens. */
const refreshTokenForm = /^[\w-]{68}$/;

function reasonOf(error: Error): Parameters<typeof unauthorized>[0] {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) return 'malformed';
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.claim === 'iss' || error.claim === 'aud' ? 'foreign' : 'other-kind';
  }
  return error instanceof z.ZodError ? 'other-kind' : 'foreign';
}
