import { noticeKinds } from '@kith/contracts';
import { z } from 'zod';

const time = z.int();
const common = {
  id: z.string(),
  name: z.string().nullable(),
  createdAt: time,
  lastUsedAt: time.nullable(),
};

const totp = z.object({
  ...common,
  type: z.literal('totp'),
  /** The shared secret, sealed for its user. */
  sealed: z.string(),
  /** The time step of the last accepted code. Codes of this step or of earlier steps are refused. */
  step: z.int(),
});

const passkey = z.object({
  ...common,
  type: z.literal('passkey'),
  credentialId: z.string(),
  /** SPKI as base64url. */
  publicKey: z.string(),
  algorithm: z.enum(['ES256', 'RS256']),
  /**
   * How many signatures the authenticator has made, according to the authenticator itself; 0 if it does not count its
   * signatures.
   */
  counter: z.int(),
  transports: z.array(z.string()),
  rpId: z.string(),
});

const enrolment = z.object({
  id: z.string(),
  name: z.string().nullable(),
  expiresAt: time,
  /** The sealed secret, for TOTP. */
  sealed: z.string().optional(),
  /** Set for a passkey. */
  passkey: z.object({ challengeHash: z.string(), rpId: z.string() }).optional(),
});

const challenge = z.object({
  hash: z.string(),
  rpId: z.string(),
  /** The session in which the user proves their identity with this challenge; null if the challenge belongs to a sign-in. */
  sessionId: z.string().nullable(),
  expiresAt: time,
});

/** All that is stored of a user's second factors. */
export const factorBook = z.object({
  /** Confirmed factors, oldest first. */
  factors: z.array(z.discriminatedUnion('type', [totp, passkey])),
  enrolments: z.array(enrolment),
  /** Hashes of the recovery codes that are not used yet. */
  recoveryHashes: z.array(z.string()),
  challenges: z.array(challenge),
  /** Sessions in which the user has proved their identity. Each proof is valid until `until`. */
  proofs: z.array(z.object({ sessionId: z.string(), until: time })),
  /** The changes about which the user must still get a mail, and when they were made. */
  notices: z.array(z.object({ kind: z.enum(noticeKinds), at: time })).optional(),
});

export type FactorBook = z.output<typeof factorBook>;
export type TotpFactor = z.output<typeof totp>;
export type PasskeyFactor = z.output<typeof passkey>;
export type StoredFactor = TotpFactor | PasskeyFactor;
export type Enrolment = z.output<typeof enrolment>;

/**
 * The maximum number of unfinished enrolments of a user, and of unused challenges of a session. If there are more, the
 * oldest are dropped.
 */
const mostWaiting = 5;
/**
 * The maximum number of unused challenges for sign-ins. It is higher than `mostWaiting`, because anybody who knows the password
 * can ask for such challenges. Such a person must not be able to push out the user's own challenge.
 */
const mostSignIns = 100;
/** How many sessions of a user may have a proof. */
const mostProofs = 20;

export const emptyBook: FactorBook = {
  factors: [],
  enrolments: [],
  recoveryHashes: [],
  challenges: [],
  proofs: [],
};

/**
 * Returns the book without the entries that have expired at `at`, and without those that exceed the limits. If the book has no
 * factor, its challenges, proofs and recovery codes are left out, too, because they have no use without a factor.
 */
export function tidied(book: FactorBook, at: Date): FactorBook {
  const now = at.getTime();
  const isRunning = ({ expiresAt }: { expiresAt: number }) => expiresAt > now;
  const enrolments = book.enrolments.filter(isRunning).slice(-mostWaiting);
  const { notices = [] } = book;
  if (book.factors.length === 0) return { ...emptyBook, enrolments, ...(notices.length > 0 && { notices }) };
  return {
    ...book,
    enrolments,
    challenges: newestChallenges(book.challenges.filter(isRunning)),
    proofs: book.proofs.filter(({ until }) => until > now).slice(-mostProofs),
  };
}

function newestChallenges(challenges: FactorBook['challenges']): FactorBook['challenges'] {
  const bySession = Map.groupBy(challenges, ({ sessionId }) => sessionId);
  return [...bySession].flatMap(([sessionId, some]) =>
    some.slice(sessionId === null ? -mostSignIns : -mostWaiting),
  );
}

/** Returns the book after `anew` has sealed every TOTP secret again. */
export function resealedBook(book: FactorBook, anew: (sealed: string) => string): FactorBook {
  return {
    ...book,
    factors: book.factors.map((one) => (one.type === 'totp' ? { ...one, sealed: anew(one.sealed) } : one)),
    enrolments: book.enrolments.map((one) => (one.sealed ? { ...one, sealed: anew(one.sealed) } : one)),
  };
}
