import { randomUUID } from 'node:crypto';
import { type CryptoKey, importJWK, type JWK, SignJWT } from 'jose';
import type { SigningKey } from '../store/index.ts';
import { accessLifetimeMs, algorithm, type SigningKeys } from './signing-keys.ts';

/** What a token says about the user and the session, as its claims `sub`, `projectId`, `role` and `sid`. */
export interface TokenSubject {
  userId: string;
  projectId: string;
  role: string;
  sessionId: string;
}

/** Signs access tokens and publishes the keys that verify them (spec#accounts-access-token, spec#accounts-jwks). */
export class AccessTokens {
  readonly #keys: Pick<SigningKeys, 'current' | 'signing' | 'settled' | 'unseal'>;
  readonly #claims: { issuer: string; audience: string };
  #imported: { kid: string; key: Promise<CryptoKey> } | undefined;

  constructor(
    keys: Pick<SigningKeys, 'current' | 'signing' | 'settled' | 'unseal'>,
    claims: { issuer: string; audience: string },
  ) {
    this.#keys = keys;
    this.#claims = claims;
  }

  /** The public parts of all keys, in the form of a JSON Web Key Set (RFC 7517). */
  get publicKeys(): (JWK & { kty: string; kid: string })[] {
    return this.#keys.current().map(publicPart);
  }

  /** Signs a token that is valid for 30 minutes. */
  async issue(subject: TokenSubject): Promise<string> {
    await this.#keys.settled();
    const now = Math.floor(Date.now() / 1000);
    const signing = this.#keys.signing();
    return new SignJWT({ projectId: subject.projectId, role: subject.role, sid: subject.sessionId })
      .setProtectedHeader({ alg: algorithm, kid: signing.kid, typ: 'JWT' })
      .setSubject(subject.userId)
      .setIssuer(this.#claims.issuer)
      .setAudience(this.#claims.audience)
      .setIssuedAt(now)
      .setExpirationTime(now + accessLifetimeMs / 1000)
      .setJti(randomUUID())
      .sign(await this.#import(signing));
  }

  #import(signing: SigningKey): Promise<CryptoKey> {
    const { kid } = signing;
    if (this.#imported?.kid !== kid) {
      const key = importJWK(this.#keys.unseal(signing), algorithm) as Promise<CryptoKey>;
      this.#imported = { kid, key };
    }
    return this.#imported.key;
  }
}

function publicPart({ kid, publicJwk: { n, e } }: SigningKey) {
  return { kty: 'RSA', n, e, kid, use: 'sig', alg: algorithm };
}
