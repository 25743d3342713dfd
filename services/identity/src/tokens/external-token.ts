import { createPublicKey, type KeyObject } from 'node:crypto';
import { foreignId } from '@kith/contracts';
import { jwtVerify } from 'jose';

/** How far the clock of the project's backend may be off, in seconds. */
export const leewaySeconds = 30;

/** A user for whom a project's own backend has signed a token, and the data that the token contains about the user. */
export interface ExternalUser {
  foreignId: string;
  userData: Record<string, unknown>;
  /** When the token was issued, in seconds; null if the token does not say. */
  issuedAt: number | null;
}

/**
 * Verifies a JWT that a project's own key has signed. `iss` (the project's id), `aud`, `sub` and `exp` are required. The key
 * decides the algorithm, whatever algorithm the token names. The lifetime is `exp` − `iat`. If there is no `iat`, the lifetime
 * is the time left until `exp` (spec#accounts-external-max-age). Returns null if the token is invalid.
 * @param of.publicKey SPKI as PEM.
 * @param of.maxAge The longest lifetime, in seconds.
 */
export async function verifyExternalToken(
  text: string,
  of: { publicKey: string; projectId: string; audience: string; maxAge: number },
): Promise<ExternalUser | null> {
  const key = createPublicKey(of.publicKey);
  const claims = await jwtVerify(text, key, {
    algorithms: algorithmsOf(key),
    audience: of.audience,
    clockTolerance: leewaySeconds,
    requiredClaims: ['iss', 'aud', 'sub', 'exp'],
  }).then(
    ({ payload }) => payload,
    () => null,
  );
  if (!claims) return null;
  const { iss, sub, iat = null, exp = 0, userData } = claims;
  const now = Date.now() / 1000;
  // Upper and lower case make no difference in a UUID (spec#addresses-uuid-case), and project ids are stored in lower case. The
  // type of `iss` has to be checked, because the project's backend can put any value into the token.
  if (typeof iss !== 'string' || iss.toLowerCase() !== of.projectId) return null;
  if ((iat ?? 0) > now + leewaySeconds || exp - (iat ?? now) > of.maxAge) return null;
  // The import also uses this schema, which removes blanks around the id. So an imported user is found even if the token's id
  // has blanks around it.
  const id = foreignId.safeParse(sub);
  if (!id.success) return null;
  const isObject = typeof userData === 'object' && userData !== null && !Array.isArray(userData);
  return {
    foreignId: id.data,
    userData: isObject ? (userData as Record<string, unknown>) : {},
    issuedAt: iat,
  };
}

function algorithmsOf(key: KeyObject): string[] {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return ['RS256'];
    case 'ec':
      return ['ES256'];
    case 'ed25519':
      // `EdDSA` and `Ed25519` stand for the same algorithm: RFC 8037 defines the first, and RFC 9864 the second.
      return ['EdDSA', 'Ed25519'];
    default:
      return [];
  }
}
