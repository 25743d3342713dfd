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
  /** The time step of the last code that was taken: no code of it or before counts again. */
  step: z.int(),
});

const passkey = z.object({
  ...common,
  type: z.literal('passkey'),
  credentialId: z.string(),
  /** SPKI as base64url. */
  publicKey: z.string(),
  algorithm: z.enum(['ES256', 'RS256']),
  /** Of signatures, as the authenticator counts them; 0 where it does not. */
  counter: z.int(),
  transports: z.array(z.string()),
  rpId: z.string(),
});

const enrolment = z.object({
  id: z.string(),
  name: z.string().nullable(),
  expiresAt: time,
  /** Of TOTP. */
  sealed: z.string().optional(),
  /** Of a passkey. */
  passkey: z.object({ challengeHash: z.string(), rpId: z.string() }).optional(),
});

const challenge = z.object({
  hash: z.string(),
  rpId: z.string(),
  /** The session that it is to prove; null for a sign-in. */
  sessionId: z.string().nullable(),
  expiresAt: time,
});

/** All that is stored of a user's second factors. */
export const factorBook = z.object({
  /** Confirmed ones, oldest first. */
  factors: z.array(z.discriminatedUnion('type', [totp, passkey])),
  enrolments: z.array(enrolment),
  /** Hashes of the recovery codes that are left. */
  recoveryHashes: z.array(z.string()),
  challenges: z.array(challenge),
  /** Sessions in which the user has proved themselves, and until when that counts. */
  proofs: z.array(z.object({ sessionId: z.string(), until: time })),
  /** Changes that the user is still to be told of by mail, and when they were made. */
  notices: z.array(z.object({ kind: z.enum(noticeKinds), at: time })).optional(),
});

export type FactorBook = z.output<typeof factorBook>;
export type TotpFactor = z.output<typeof totp>;
export type PasskeyFactor = z.output<typeof passkey>;
export type StoredFactor = TotpFactor | PasskeyFactor;
export type Enrolment = z.output<typeof enrolment>;
export type Challenge = z.output<typeof challenge>;

/** Most of what waits for its user: what is begun and not finished, oldest first out. */
const mostWaiting = 5;
/** Most sessions with a proof. */
const mostProofs = 20;

export const emptyBook: FactorBook = {
  factors: [],
  enrolments: [],
  recoveryHashes: [],
  challenges: [],
  proofs: [],
};

/** A book without what is over at `at` or too much, and without what counts only beside a factor. */
export function tidied(book: FactorBook, at: Date): FactorBook {
  const now = at.getTime();
  const isRunning = ({ expiresAt }: { expiresAt: number }) => expiresAt > now;
  const enrolments = book.enrolments.filter(isRunning).slice(-mostWaiting);
  const { notices = [] } = book;
  if (book.factors.length === 0) return { ...emptyBook, enrolments, ...(notices.length > 0 && { notices }) };
  return {
    ...book,
    enrolments,
    challenges: book.challenges.filter(isRunning).slice(-mostWaiting),
    proofs: book.proofs.filter(({ until }) => until > now).slice(-mostProofs),
  };
}

/** A book with every TOTP secret sealed anew. */
export function resealedBook(book: FactorBook, anew: (sealed: string) => string): FactorBook {
  return {
    ...book,
    factors: book.factors.map((one) => (one.type === 'totp' ? { ...one, sealed: anew(one.sealed) } : one)),
    enrolments: book.enrolments.map((one) => (one.sealed ? { ...one, sealed: anew(one.sealed) } : one)),
  };
}
