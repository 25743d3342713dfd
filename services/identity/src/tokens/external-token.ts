import { createPublicKey, type KeyObject } from 'node:crypto';
import { jwtVerify } from 'jose';

const leewaySeconds = 30;
const longestId = 512;

/** Whom a project's own backend vouches for, and what it says of that user. */
export interface ExternalUser {
  foreignId: string;
  userData: Record<string, unknown>;
  /** When the token was issued, in seconds; null where it does not say so. */
  issuedAt: number | null;
}

/**
 * Verifies a JWT of a project's own key: `iss` the project's id, `aud`, `sub` and `exp` are required, and the
 * algorithm is the key's, whatever the token names. Its life is `exp` − `iat`; without `iat` it is what is left of it
 * (spec#accounts-external-max-age). Null for any that does not hold.
 * @param of.publicKey SPKI as PEM.
 * @param of.maxAge The longest life, in seconds.
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
  // A UUID is the same in either case (spec#addresses-uuid-case).
  // A signer may have put anything there, a list for one.
  if (typeof iss !== 'string' || iss.toLowerCase() !== of.projectId) return null;
  if ((iat ?? 0) > now + leewaySeconds || exp - (iat ?? now) > of.maxAge) return null;
  if (typeof sub !== 'string' || sub === '' || sub.length > longestId || !sub.isWellFormed()) return null;
  const isObject = typeof userData === 'object' && userData !== null && !Array.isArray(userData);
  return {
    foreignId: sub,
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
      // The one name is RFC 8037's, the other RFC 9864's.
      return ['EdDSA', 'Ed25519'];
    default:
      return [];
  }
}
