import type { PasskeyAssertion } from '@kith/contracts';
import type { AppContext } from '../app.ts';
import type { FactorBook, StoredFactor } from '../store/index.ts';
import { challengeHashOf, verifyPasskey } from './passkeys.ts';
import { hashRecoveryCode } from './recovery-codes.ts';
import { totpStep } from './totp.ts';

/** The second factor that a user shows: a code or a passkey. */
export interface Shown {
  code?: string | null | undefined;
  passkey?: PasskeyAssertion | null | undefined;
}

export interface Showing {
  userId: string;
  /** At a step-up, the session that gets the proof (`withProof`); null at a sign-in. */
  sessionId: string | null;
  webOrigins: readonly string[];
  at: Date;
}

/**
 * Checks the factor that a user shows. Returns the user's factor book, in which the use is recorded, or null if the factor is
 * not accepted.
 */
export async function useFactor(
  app: AppContext,
  book: FactorBook,
  { code, passkey }: Shown,
  showing: Showing,
): Promise<FactorBook | null> {
  if (passkey) return usePasskey(book, passkey, showing);
  if (!code) return null;
  return useTotp(app, book, code, showing) ?? useRecoveryCode(book, code);
}

function useTotp(
  app: AppContext,
  book: FactorBook,
  given: string,
  { userId, at }: Showing,
): FactorBook | null {
  const code = given.replaceAll(/\s/g, '');
  for (const factor of book.factors) {
    if (factor.type !== 'totp') continue;
    const step = totpStep(app, { sealed: factor.sealed, after: factor.step, userId }, code, at);
    if (step === null) continue;
    return used(book, { ...factor, step }, at);
  }
  return null;
}

function useRecoveryCode(book: FactorBook, code: string): FactorBook | null {
  const hash = hashRecoveryCode(code);
  if (book.factors.length === 0 || !book.recoveryHashes.includes(hash)) return null;
  return { ...book, recoveryHashes: book.recoveryHashes.filter((one) => one !== hash) };
}

async function usePasskey(
  book: FactorBook,
  passkey: PasskeyAssertion,
  { sessionId, webOrigins, at }: Showing,
): Promise<FactorBook | null> {
  const hash = challengeHashOf(passkey);
  const challenge = book.challenges.find((one) => one.hash === hash && one.sessionId === sessionId);
  const factor = book.factors.find((one) => one.type === 'passkey' && one.credentialId === passkey.id);
  if (!challenge || factor?.type !== 'passkey' || factor.rpId !== challenge.rpId) return null;
  const expected = { challengeHash: challenge.hash, rpId: challenge.rpId, webOrigins };
  const counter = await verifyPasskey(passkey, factor, expected);
  if (counter === null) return null;
  const challenges = book.challenges.filter((one) => one !== challenge);
  return used({ ...book, challenges }, { ...factor, counter }, at);
}

function used(book: FactorBook, factor: StoredFactor, at: Date): FactorBook {
  const lastUsedAt = at.getTime();
  const factors = book.factors.map((one) => (one.id === factor.id ? { ...factor, lastUsedAt } : one));
  return { ...book, factors };
}
