import { hash, randomBytes } from 'node:crypto';
import type { PasskeyAssertion, PasskeyCreation, PasskeyRegistration, PasskeyRequest } from '@kith/contracts';
import { parsers, server } from '@passwordless-id/webauthn';
import type { PasskeyFactor, StoredFactor } from '../store/index.ts';
import { evenSignature } from './even-signature.ts';
import { mayUsePasskey } from './web-origins.ts';

/** COSE numbers of the supported algorithms. Every authenticator has ES256; the authenticators of Windows have RS256. */
const algorithms = { ES256: -7, RS256: -257 } as const;
/** How long a challenge is valid, in ms. Browsers are told to wait no longer than this. */
export const challengeMs = 5 * 60_000;
const challengeBytes = 32;

/** What a shown passkey must match: the given challenge, the relying party, and the pages that may use the passkey. */
export interface Expected {
  challengeHash: string;
  rpId: string;
  webOrigins: readonly string[];
}

export function makeChallenge(): { challenge: string; hash: string } {
  const challenge = randomBytes(challengeBytes).toString('base64url');
  return { challenge, hash: hashChallenge(challenge) };
}

function hashChallenge(challenge: string): string {
  return hash('sha256', challenge, 'base64url');
}

/** The options from which a page makes a passkey. */
export function creationOptions(given: {
  challenge: string;
  rp: { id: string; name: string };
  user: { id: string; email: string; name: string | null };
  factors: readonly StoredFactor[];
}): PasskeyCreation {
  const { challenge, rp, user, factors } = given;
  return {
    rp,
    user: {
      id: Buffer.from(user.id.replaceAll('-', ''), 'hex').toString('base64url'),
      name: user.email,
      displayName: user.name ?? user.email,
    },
    challenge,
    pubKeyCredParams: Object.values(algorithms).map((alg) => ({ type: 'public-key', alg })),
    timeout: challengeMs,
    excludeCredentials: descriptors(factors, rp.id),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
    attestation: 'none',
  };
}

/** The options with which a page asks for a passkey; null if the user has none for this relying party. */
export function requestOptions(
  challenge: string,
  rpId: string,
  factors: readonly StoredFactor[],
): PasskeyRequest | null {
  const allowCredentials = descriptors(factors, rpId);
  if (allowCredentials.length === 0) return null;
  return { challenge, rpId, timeout: challengeMs, userVerification: 'required', allowCredentials };
}

function descriptors(factors: readonly StoredFactor[], rpId: string) {
  return factors
    .filter((one): one is PasskeyFactor => one.type === 'passkey' && one.rpId === rpId)
    .map(({ credentialId: id, transports }) => ({ type: 'public-key' as const, id, transports }));
}

/** Verifies a new passkey (WebAuthn Level 3, 7.1). Returns null if anything in it is invalid. */
export async function verifyNewPasskey(
  given: PasskeyRegistration,
  expected: Expected,
): Promise<Pick<
  PasskeyFactor,
  'credentialId' | 'publicKey' | 'algorithm' | 'counter' | 'transports' | 'rpId'
> | null> {
  const algorithm = Object.entries(algorithms).find(([, alg]) => alg === given.response.publicKeyAlgorithm);
  if (!algorithm) return null;
  return orNull(async () => {
    refuseFramed(given);
    const registration = given as unknown as Parameters<typeof server.verifyRegistration>[0];
    const { authenticator, userVerified } = await server.verifyRegistration(registration, checks(expected));
    const name = algorithm[0] as keyof typeof algorithms;
    // A passkey whose key cannot be read is refused already here. If it were stored, it would be refused at every use.
    await server.parseCryptoKey(name, given.response.publicKey);
    // The library checks the user's presence only when a passkey is used.
    const { flags } = parsers.parseAuthenticator(given.response.authenticatorData);
    if (!userVerified || !flags.userPresent) return null;
    const { publicKey, transports } = given.response;
    const { rpId } = expected;
    const { counter } = authenticator;
    return { credentialId: given.id, publicKey, algorithm: name, counter, transports, rpId };
  });
}

/**
 * Verifies what an authenticator has signed with a passkey (WebAuthn Level 3, 7.2). Returns the new counter, or null if
 * anything is invalid.
 */
export async function verifyPasskey(
  given: PasskeyAssertion,
  { credentialId: id, publicKey, algorithm, counter, transports }: PasskeyFactor,
  expected: Expected,
): Promise<number | null> {
  const { response } = given;
  const signature = algorithm === 'ES256' ? evenSignature(response.signature) : response.signature;
  return orNull(async () => {
    refuseFramed(given);
    const assertion = { ...given, response: { ...response, signature } };
    const { counter: next } = await server.verifyAuthentication(
      assertion as unknown as Parameters<typeof server.verifyAuthentication>[0],
      { id, publicKey, algorithm, transports: transports as never[] },
      { ...checks(expected), counter },
    );
    return next;
  });
}

/** The hash of the challenge that a passkey answers; null if the challenge cannot be read. */
export function challengeHashOf({ response }: Pick<PasskeyAssertion, 'response'>): string | null {
  try {
    return hashChallenge(String(parsers.parseClient(response.clientDataJSON).challenge));
  } catch {
    return null;
  }
}

/**
 * Refuses a page if it is framed by a page of another origin. The outer page could lay other content over the framed page and
 * so deceive the user (WebAuthn Level 3, 13.4.2). All such pages are refused, because no setting says which origins may frame
 * the page. The library does not check the fields `crossOrigin` and `topOrigin` (7.1 and 7.2).
 */
function refuseFramed({ response }: { response: { clientDataJSON: string } }): void {
  const { crossOrigin = false, topOrigin } = parsers.parseClient(response.clientDataJSON) as Framing;
  if (crossOrigin !== false || topOrigin !== undefined) throw new Error('The page was framed.');
}

interface Framing {
  crossOrigin?: unknown;
  topOrigin?: unknown;
}

function checks({ challengeHash, rpId, webOrigins }: Expected) {
  return {
    challenge: (challenge: string) => hashChallenge(challenge) === challengeHash,
    origin: (origin: string) => mayUsePasskey(origin, rpId, webOrigins),
    domain: rpId,
    userVerified: true,
  };
}

/**
 * Returns null instead of an error of the library. Such an error contains parts of the input, which must not get into a log.
 */
async function orNull<T>(verify: () => Promise<T>): Promise<T | null> {
  try {
    return await verify();
  } catch {
    return null;
  }
}
