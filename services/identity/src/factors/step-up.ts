import { ApiError } from '@kith/base';
import type { Caller } from '@kith/service';
import type { AppContext } from '../app.ts';
import { requireOpenSession } from '../sessions.ts';
import type { FactorBook } from '../store/index.ts';
import { accountOf } from './factor-user.ts';

/** How long a proof is valid, in ms (spec#accounts-step-up). */
export const proofMs = 5 * 60_000;

/**
 * Refuses a caller who has a second factor but no recent proof. The proof must belong to the token's session, and must not be
 * older than five minutes (spec#accounts-step-up-required). Throws `auth/step-up-required`. Resolves to the caller's factor book.
 */
export async function requireStepUp(app: AppContext, projectId: string, caller: Caller): Promise<FactorBook> {
  const book = await app.store.factors.find({ projectId, userId: caller.userId });
  requireProof(book, caller.sessionId, app.now());
  return book;
}

/**
 * Refuses a caller who may not change their own factors, because the session has ended or because it has no recent proof. Call
 * this each time the book is read (`requireOpenSession`). Throws `auth/unauthorized` or `auth/step-up-required`.
 */
export async function requireOwner(
  app: AppContext,
  book: FactorBook,
  { projectId, caller, at }: { projectId: string; caller: Caller; at: Date },
): Promise<void> {
  await requireOpenSession(app, await accountOf(app, projectId, caller.userId), caller);
  requireProof(book, caller.sessionId, at);
}

function requireProof(book: FactorBook, sessionId: string, at: Date): void {
  if (book.factors.length === 0) return;
  const isProved = book.proofs.some((one) => one.sessionId === sessionId && one.until > at.getTime());
  if (!isProved) throw new ApiError('auth/step-up-required');
}

/**
 * Returns the user's factor book with a new proof for a session. The new proof replaces an older proof for the same session.
 */
export function withProof(book: FactorBook, sessionId: string, at: Date): FactorBook {
  const others = book.proofs.filter((one) => one.sessionId !== sessionId);
  return { ...book, proofs: [...others, { sessionId, until: at.getTime() + proofMs }] };
}
