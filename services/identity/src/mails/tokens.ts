import { hash, randomBytes, randomInt } from 'node:crypto';
import type { Secrets } from '@kith/base';
import { type MailKind, type NoticeKind, noticeKinds } from '@kith/contracts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Mails with a token. */
export type TokenKind = Exclude<MailKind, NoticeKind>;

/**
 * How long tokens are valid after they are sent, in ms. But a token that undoes a change of the address never expires later
 * than its mail's `until`.
 */
const lifetimeMs: Readonly<Record<TokenKind, number>> = {
  passwordReset: hourMs,
  verificationLink: 24 * hourMs,
  verificationCode: 5 * minuteMs,
  emailChange: 24 * hourMs,
  emailChanged: 7 * 24 * hourMs,
};

/** How long a user may take back the old address after a change, in ms (spec#accounts-old-address). */
export const undoMs = lifetimeMs.emailChanged;
/**
 * How many changes of the address a user can undo at a time. A thief of an account must not be able to make more changes than
 * the owner can undo.
 */
export const mostUndos = 50;
/** After this many wrong tries, a code is invalid. */
export const mostFailures = 5;
export const codeForm = /^\d{6}$/;

/** Whether a mail of this kind only reports a change, and has no token. */
export function isNotice(kind: MailKind): kind is NoticeKind {
  return noticeKinds.some((one) => one === kind);
}

/** Makes a mail's token: 256 random bits, or a code. */
export function makeToken(kind: TokenKind): string {
  if (kind !== 'verificationCode') return randomBytes(32).toString('base64url');
  return String(randomInt(1_000_000)).padStart(6, '0');
}

/** The time at which a token expires if it is sent now. */
export function tokenEnd({ kind, until }: { kind: TokenKind; until: number }): number {
  const end = Date.now() + lifetimeMs[kind];
  return kind === 'emailChanged' ? Math.min(end, until) : end;
}

/** The hash under which a token is stored and found. SHA-256 is enough for 256 random bits. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'base64url');
}

/** The keyed hash of a user's code. A hash without a key would not be safe, because there are only a million codes. */
export function hashCode(
  secrets: Pick<Secrets, 'hash'>,
  user: { projectId: string; id: string },
  code: string,
): string {
  return secrets.hash('mail-code', `${user.projectId}|${user.id}|${code}`);
}

/** The hash of an address in a project. It is used to count the mails to the address, even if no account has the address. */
export function hashAddress(secrets: Pick<Secrets, 'hash'>, projectId: string, address: string): string {
  return secrets.hash('mail-address', `${projectId}|${address}`);
}
