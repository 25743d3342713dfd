import { z } from 'zod';
import { operation } from '../operation.ts';
import { shownText, text } from '../scalars.ts';
import { email } from './email.ts';
import { newPassword, password } from './password.ts';
import { nothing, perFiveMinutes } from './shared.ts';

const common = { feature: 'auth', scope: 'project', params: nothing, status: 200 } as const;
const done = z.object({ success: z.literal(true) });
const told = z.object({ success: z.literal(true), message: shownText(200) });
/** The token or code of a mail. Kith never makes a longer token than this schema accepts. */
const token = z.string().min(1).max(200);
/**
 * The address of a page of the application. The page that Kith shows for a mail links to this address. The project decides
 * whether the address is allowed.
 */
const address = text({ min: 1, max: 2_048 });

/**
 * Sends a mail with a token that sets a new password. Neither the answer nor its timing shows whether an account has the given
 * address (spec#accounts-request-reset).
 */
export const requestPasswordReset = operation({
  ...common,
  name: 'identity.request-password-reset',
  summary: 'Send a mail to set a new password',
  auth: 'none',
  method: 'POST',
  path: '/auth/request-password-reset',
  limit: perFiveMinutes(5),
  query: nothing,
  body: z.object({ email }),
  output: told,
  errors: ['project/not-found', 'auth/mail-unavailable'],
});

/** Sets a new password with the token of a mail, and ends every session. The token works once (spec#accounts-reset). */
export const resetPassword = operation({
  ...common,
  name: 'identity.reset-password',
  audit: 'always',
  summary: 'Set a new password with the token of a mail',
  auth: 'none',
  method: 'POST',
  path: '/auth/reset-password',
  limit: perFiveMinutes(10),
  query: nothing,
  body: z.object({ token, newPassword }),
  output: told,
  errors: ['auth/weak-password', 'auth/invalid-reset-token'],
});

/** Sends the caller a mail that verifies the e-mail address, with a code or a link (spec#accounts-send-verification). */
export const sendVerificationEmail = operation({
  ...common,
  name: 'identity.send-verification-email',
  summary: "Send a mail that verifies the caller's e-mail address",
  auth: 'user',
  method: 'POST',
  path: '/auth/send-verification-email',
  limit: perFiveMinutes(5),
  query: nothing,
  body: z.object({ mode: z.enum(['code', 'link']).default('code'), redirectUrl: address.nullish() }),
  output: done,
  errors: ['auth/mail-unavailable', 'auth/invalid-redirect', 'auth/not-password-user', 'auth/unauthorized'],
});

/**
 * Takes the token or code of a mail. Depending on the mail, the operation verifies the address, makes a new address valid, or
 * undoes a change of address. A code of 6 digits is accepted only with its user's access token (spec#accounts-verify-email).
 */
export const verifyEmail = operation({
  ...common,
  name: 'identity.verify-email',
  audit: 'told',
  summary: 'Verify an e-mail address with the token or code of a mail',
  auth: 'optional',
  method: 'POST',
  path: '/auth/verify-email',
  limit: perFiveMinutes(10),
  query: nothing,
  body: z.object({ token }),
  output: done,
  errors: ['auth/invalid-or-expired-token', 'DUPLICATE_EMAIL'],
});

/**
 * A page with a button that sends the token of a mail to `verify-email`. Reading the page changes nothing
 * (spec#accounts-verify-link).
 */
export const verifyEmailLink = operation({
  ...common,
  name: 'identity.verify-email-link',
  summary: 'Get the page that the link of a mail leads to',
  auth: 'none',
  method: 'GET',
  path: '/auth/verify-email-link',
  limit: perFiveMinutes(10),
  query: z.object({ token, redirect: address.optional() }),
  body: nothing,
  output: shownText(64 * 1024),
  contentType: 'text/html; charset=utf-8',
  errors: ['project/not-found', 'auth/invalid-redirect'],
});

/**
 * Sends a mail to the caller's new address. When `verify-email` gets the token of this mail, the new address becomes valid.
 * Then the old address gets a mail about the change (spec#accounts-change-email).
 */
export const changeEmail = operation({
  ...common,
  name: 'identity.change-email',
  audit: 'always',
  summary: "Change the caller's e-mail address",
  auth: 'user',
  method: 'POST',
  path: '/auth/change-email',
  limit: perFiveMinutes(5),
  query: nothing,
  body: z.object({ password, newEmail: email }),
  output: told,
  errors: [
    'auth/mail-unavailable',
    'auth/step-up-required',
    'auth/not-password-user',
    'auth/too-many-attempts',
    'auth/invalid-credentials',
    'auth/unauthorized',
    'DUPLICATE_EMAIL',
  ],
});

export const mailOperations = [
  requestPasswordReset,
  resetPassword,
  sendVerificationEmail,
  verifyEmail,
  verifyEmailLink,
  changeEmail,
] as const;
