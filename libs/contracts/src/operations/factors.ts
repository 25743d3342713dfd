import { z } from 'zod';
import { operation } from '../operation.ts';
import { optionalText, shownText, timestamp, uuid, wholeNumber } from '../scalars.ts';
import { email } from './email.ts';
import { host, passkeyCreation, passkeyRegistration, passkeyRequest } from './passkey-json.ts';
import { password } from './password.ts';
import { secondFactor } from './second-factor.ts';
import { nothing, perFiveMinutes } from './shared.ts';

/** How many second factors a user may have. */
export const mostFactors = 10;
/** How many recovery codes a user gets at a time. */
export const recoveryCodeCount = 10;

const type = z.enum(['totp', 'passkey']);

/** A second factor as its user sees it (spec#accounts-factors-kinds). */
export const factor = z.object({
  id: uuid,
  type,
  name: shownText(60).nullable(),
  createdAt: timestamp,
  lastUsedAt: timestamp.nullable(),
});
export type Factor = z.output<typeof factor>;

/** A user's second factors, oldest first, and how many recovery codes are left. */
export const factorList = z.object({
  factors: z.array(factor).max(mostFactors),
  recoveryCodesLeft: wholeNumber,
});

const common = {
  feature: 'auth',
  scope: 'project',
  auth: 'user',
  params: nothing,
  query: nothing,
  status: 200,
} as const;
const byId = z.object({ factorId: uuid });
const recoveryCodes = z.array(shownText(32)).max(recoveryCodeCount);
const rpId = host;

/** Lists the caller's second factors (spec#accounts-factors-list). */
export const listFactors = operation({
  ...common,
  name: 'identity.list-factors',
  summary: "List the caller's second factors",
  method: 'GET',
  path: '/auth/factors',
  limit: perFiveMinutes(50),
  body: nothing,
  output: factorList,
  errors: [],
});

const begun = { id: uuid, name: shownText(60).nullable(), expiresAt: timestamp };

/**
 * Begins to enrol a second factor. The factor takes effect when the user confirms it, which must happen within 10 minutes. Only
 * this answer shows the secret (spec#accounts-factors-enrol).
 */
export const enrolFactor = operation({
  ...common,
  name: 'identity.enrol-factor',
  summary: 'Begin to enrol a second factor',
  method: 'POST',
  path: '/auth/factors',
  limit: perFiveMinutes(20),
  body: z.object({
    type,
    name: optionalText(60),
    /** For a passkey: the page's host, or a domain above it. */
    rpId: rpId.optional(),
  }),
  output: z.union([
    z.object({ ...begun, type: z.literal('totp'), secret: shownText(64), url: shownText(2048) }),
    z.object({ ...begun, type: z.literal('passkey'), options: passkeyCreation }),
  ]),
  status: 201,
  errors: [
    'auth/invalid-rp-id',
    'auth/not-password-user',
    'auth/step-up-required',
    'auth/too-many-factors',
    'auth/unauthorized',
  ],
});

/** A body with at least one field. The schema lets each single field be missing, and the handler checks which one is needed. */
const oneNeeded = { minProperties: 1 };

/**
 * Confirms a second factor with its first code, or with the new passkey. Confirming the first factor also makes recovery codes.
 * Only this answer shows them (spec#accounts-factors-confirm).
 */
export const confirmFactor = operation({
  ...common,
  name: 'identity.confirm-factor',
  audit: 'always',
  summary: 'Confirm a second factor',
  method: 'POST',
  path: '/auth/factors/:factorId/confirm',
  limit: perFiveMinutes(20),
  params: byId,
  body: z.object({ code: secondFactor.code, passkey: passkeyRegistration.nullish() }).meta(oneNeeded),
  output: z.object({ factor, recoveryCodes: recoveryCodes.nullable() }),
  errors: [
    'auth/factor-not-found',
    'auth/invalid-second-factor',
    'auth/step-up-required',
    'auth/too-many-factors',
    'auth/unauthorized',
  ],
  invalid: { params: 'auth/factor-not-found' },
});

/**
 * Removes a second factor. If the user then has no second factor left, the recovery codes are removed too
 * (spec#accounts-factors-remove).
 */
export const removeFactor = operation({
  ...common,
  name: 'identity.remove-factor',
  audit: 'always',
  summary: 'Remove a second factor',
  method: 'DELETE',
  path: '/auth/factors/:factorId',
  limit: perFiveMinutes(20),
  params: byId,
  body: nothing,
  output: z.undefined(),
  status: 204,
  errors: ['auth/factor-not-found', 'auth/step-up-required', 'auth/unauthorized'],
  invalid: { params: 'auth/factor-not-found' },
});

/** Makes new recovery codes in place of the old ones (spec#accounts-factors-recovery-codes). */
export const renewRecoveryCodes = operation({
  ...common,
  name: 'identity.renew-recovery-codes',
  audit: 'always',
  summary: 'Make new recovery codes',
  method: 'POST',
  path: '/auth/factors/recovery-codes',
  limit: perFiveMinutes(10),
  body: nothing,
  output: z.object({ recoveryCodes }),
  errors: ['auth/factor-not-found', 'auth/step-up-required', 'auth/unauthorized'],
});

const challenge = {
  ...common,
  method: 'POST',
  limit: perFiveMinutes(20),
  output: passkeyRequest,
} as const;

/**
 * Makes a challenge that a passkey of the caller can sign. With the signature, the caller proves again who they are
 * (spec#accounts-factors-challenge).
 */
export const challengePasskey = operation({
  ...challenge,
  name: 'identity.challenge-passkey',
  summary: "Make a passkey challenge to prove the caller's identity again",
  path: '/auth/factors/passkey-challenge',
  body: z.object({ rpId }),
  errors: ['auth/factor-not-found'],
});

/**
 * Makes a challenge for signing in with a passkey. The caller must know the password, so that nobody else learns whether an
 * account has second factors (spec#accounts-factors-sign-in-challenge).
 */
export const challengeSignIn = operation({
  ...challenge,
  name: 'identity.challenge-sign-in',
  audit: 'always',
  summary: 'Make a passkey challenge to sign in',
  auth: 'none',
  path: '/auth/sign-in/passkey-challenge',
  body: z.object({ email, password, rpId }),
  errors: [
    'auth/too-many-attempts',
    'auth/invalid-credentials',
    'auth/suspended',
    'auth/email-not-verified',
    'auth/factor-not-found',
    'project/not-found',
  ],
});

/**
 * Lets the caller prove again who they are, by password, code or passkey. The proof is valid for 5 minutes in the session of
 * the token (spec#accounts-step-up).
 */
export const stepUp = operation({
  ...common,
  name: 'identity.step-up',
  audit: 'always',
  summary: "Prove the caller's identity again",
  method: 'POST',
  path: '/auth/step-up',
  limit: perFiveMinutes(20),
  body: z.object({ password: password.nullish(), ...secondFactor }).meta(oneNeeded),
  output: z.object({ success: z.literal(true), expiresAt: timestamp }),
  errors: [
    'auth/too-many-attempts',
    'auth/invalid-credentials',
    'auth/invalid-second-factor',
    'auth/unauthorized',
  ],
});

export const factorOperations = [
  listFactors,
  enrolFactor,
  renewRecoveryCodes,
  challengePasskey,
  confirmFactor,
  removeFactor,
  challengeSignIn,
  stepUp,
] as const;
