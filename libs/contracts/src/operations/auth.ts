import { z } from 'zod';
import { generalList, listQuery } from '../lists.ts';
import { revocations } from '../notices.ts';
import { internalOperation, operation } from '../operation.ts';
import { shownText, timestamp, uuid } from '../scalars.ts';
import { email } from './email.ts';
import { newPassword, password } from './password.ts';
import { secondFactor } from './second-factor.ts';
import { nothing, perFiveMinutes } from './shared.ts';
import { ownUser, profileFields } from './users.ts';

/** The answer to signing in (spec#accounts-session). */
export const session = z.object({
  success: z.literal(true),
  accessToken: shownText(4096),
  refreshToken: shownText(512),
  user: ownUser,
});
export type Session = z.output<typeof session>;

/**
 * The answer to signing up. If the user must verify the e-mail address first, the tokens are null
 * (spec#accounts-unverified-sign-up).
 */
export const signedUp = session.extend({
  accessToken: session.shape.accessToken.nullable(),
  refreshToken: session.shape.refreshToken.nullable(),
});
export type SignedUp = z.output<typeof signedUp>;

/** A body that contains only a new password. */
export const passwordBody = z.object({ password: newPassword });
const common = { feature: 'auth', scope: 'project', auth: 'none' } as const;

/** Creates an account with e-mail address and password, and its first session (spec#accounts-sign-up). */
export const signUp = operation({
  ...common,
  name: 'identity.sign-up',
  audit: 'always',
  summary: 'Create an account and its first session',
  method: 'POST',
  path: '/auth/sign-up',
  limit: perFiveMinutes(20),
  params: nothing,
  query: nothing,
  body: z.object({ email, password: newPassword, ...profileFields }),
  output: signedUp,
  status: 201,
  errors: [
    'auth/weak-password',
    'project/not-found',
    'auth/sign-up-closed',
    'auth/mail-unavailable',
    'DUPLICATE_EMAIL',
    'DUPLICATE_USERNAME',
  ],
  keyedByProject: { userOf: (output) => (output as SignedUp).user.id },
});

/** Opens a session with e-mail address and password (spec#accounts-sign-in). */
export const signIn = operation({
  ...common,
  name: 'identity.sign-in',
  audit: 'always',
  summary: 'Open a session with e-mail address and password',
  method: 'POST',
  path: '/auth/sign-in',
  limit: perFiveMinutes(20),
  params: nothing,
  query: nothing,
  body: z.object({ email, password, ...secondFactor }),
  output: session,
  status: 200,
  errors: [
    'auth/too-many-attempts',
    'auth/invalid-credentials',
    'auth/suspended',
    'auth/second-factor-required',
    'auth/invalid-second-factor',
    'auth/email-not-verified',
    'project/not-found',
  ],
});

/** The refresh token of a client; it may be absent. */
const perhapsToken = z.string().max(512).nullish();
/** The answer to a signed-out client that asks for a new token (spec#existing-clients-refresh). */
const signedOut = z.object({ user: z.null(), accessToken: z.null() });

/**
 * Ends the session of a refresh token, and makes all refresh tokens of this session invalid. The answer is the same if the
 * token is unknown or absent (spec#accounts-sign-out, spec#accounts-sign-out-always).
 */
export const signOut = operation({
  ...common,
  name: 'identity.sign-out',
  audit: 'always',
  summary: 'End a session',
  method: 'POST',
  path: '/auth/sign-out',
  limit: perFiveMinutes(50),
  params: nothing,
  query: nothing,
  body: z.object({ refreshToken: perhapsToken }),
  output: z.undefined(),
  status: 204,
  errors: [],
});

/**
 * Exchanges a refresh token for new tokens. The given token is then used up (spec#accounts-refresh). Without a token, the
 * answer says that nobody is signed in.
 */
export const requestNewAccessToken = operation({
  ...common,
  name: 'identity.request-new-access-token',
  audit: 'told',
  summary: 'Exchange a refresh token for new tokens',
  method: 'POST',
  path: '/auth/request-new-access-token',
  limit: perFiveMinutes(50),
  params: nothing,
  query: nothing,
  body: z.object({ refreshToken: perhapsToken }),
  output: z.union([session, signedOut]),
  status: 200,
  errors: ['auth/unauthorized', 'auth/token-reuse-detected', 'auth/suspended'],
});

/**
 * Signs in a user of the project's own backend, with a JWT that is signed with the project's key
 * (spec#accounts-verify-external).
 */
export const verifyExternalUser = operation({
  ...common,
  name: 'identity.verify-external-user',
  audit: 'always',
  summary: "Sign in with a token of the project's own backend",
  method: 'POST',
  path: '/auth/verify-external-user',
  limit: perFiveMinutes(50),
  params: nothing,
  query: nothing,
  body: z.object({
    userJwt: z
      .string()
      .min(1)
      .max(64 * 1024),
  }),
  output: session,
  status: 200,
  errors: ['project/not-found', 'auth/missing-keys', 'auth/invalid-token', 'auth/suspended'],
});

/** Changes the caller's password and ends the other sessions (spec#accounts-change-password). */
export const changePassword = operation({
  ...common,
  name: 'identity.change-password',
  audit: 'always',
  summary: "Change the caller's password",
  auth: 'user',
  method: 'POST',
  path: '/auth/change-password',
  limit: perFiveMinutes(10),
  params: nothing,
  query: nothing,
  body: z.object({ password, newPassword }),
  output: z.object({ success: z.literal(true), message: shownText(200) }),
  status: 200,
  errors: [
    'auth/weak-password',
    'auth/step-up-required',
    'auth/too-many-attempts',
    'auth/invalid-credentials',
    'auth/unauthorized',
  ],
});

/** One of the caller's sessions; `current` is true for the session of the access token. */
export const sessionInfo = z.object({
  id: uuid,
  createdAt: timestamp,
  lastUsedAt: timestamp,
  userAgent: shownText(512).nullable(),
  ip: shownText(45).nullable(),
  current: z.boolean(),
});

export type SessionInfo = z.output<typeof sessionInfo>;

/** The caller's sessions, newest first (spec#accounts-sessions-list). */
export const listSessions = operation({
  ...common,
  name: 'identity.list-sessions',
  summary: "List the caller's sessions",
  auth: 'user',
  method: 'GET',
  path: '/auth/sessions',
  limit: perFiveMinutes(50),
  params: nothing,
  query: listQuery({ limit: 20, max: 100 }),
  body: nothing,
  output: generalList(sessionInfo),
  status: 200,
  errors: [],
});

/** Ends one of the caller's sessions (spec#accounts-sessions-delete). */
export const deleteSession = operation({
  ...common,
  name: 'identity.delete-session',
  audit: 'always',
  summary: "End one of the caller's sessions",
  auth: 'user',
  method: 'DELETE',
  path: '/auth/sessions/:sessionId',
  limit: perFiveMinutes(50),
  params: z.object({ sessionId: uuid }),
  query: nothing,
  body: nothing,
  output: z.undefined(),
  status: 204,
  errors: ['auth/session-not-found'],
  invalid: { params: 'auth/session-not-found' },
});

/** A JSON Web Key Set (RFC 7517) of public keys. */
export const jwks = z.object({
  keys: z.array(z.looseObject({ kty: shownText(16), kid: shownText(128) })).max(100),
});

/** The keys that verify access tokens (spec#accounts-jwks). */
export const getJwks = operation({
  name: 'identity.jwks',
  summary: 'Get the keys that verify access tokens',
  feature: 'auth',
  method: 'GET',
  path: '/.well-known/jwks.json',
  scope: 'none',
  auth: 'none',
  limit: null,
  params: nothing,
  query: nothing,
  body: nothing,
  output: jwks,
  status: 200,
  errors: [],
});

/**
 * A key that signs access tokens. The key is added to the key set before it signs. It stays in the set until the last token
 * that it signed has expired.
 */
export const signingKey = z.object({
  kid: shownText(128),
  state: z.enum(['published', 'signing', 'verifying']),
  createdAt: timestamp,
  signsFrom: timestamp,
});

/**
 * Makes a new key for access tokens. The key begins to sign after every verifier has had time to load it. If there is already a
 * new key that does not sign yet, no key is made. Tokens that older keys signed stay valid (spec#accounts-jwks).
 */
export const rotateKeys = operation({
  name: 'identity.rotate-keys',
  operatorScope: 'keys:write',
  summary: 'Make a new key for access tokens',
  feature: 'auth',
  method: 'POST',
  path: '/admin/keys/rotate',
  scope: 'none',
  auth: 'operator',
  limit: null,
  params: nothing,
  query: nothing,
  body: nothing,
  output: z.object({ keys: z.array(signingKey).max(100) }),
  status: 200,
  errors: [],
});

/**
 * Takes a key out of use immediately. Gateways no longer accept the access tokens that it signed, so users have to refresh
 * their sessions or sign in again. If this key signs new tokens, another key replaces it in the same step. Repeating the
 * call changes nothing (spec#signing-keys-revoke).
 */
export const revokeKey = operation({
  name: 'identity.revoke-key',
  operatorScope: 'keys:write',
  summary: 'Revoke a key for access tokens, and all tokens signed with it',
  feature: 'auth',
  method: 'POST',
  path: '/admin/keys/revoke',
  scope: 'none',
  auth: 'operator',
  limit: null,
  params: nothing,
  query: nothing,
  body: z.object({ kid: z.string().min(1).max(128) }),
  output: rotateKeys.output,
  status: 200,
  errors: ['auth/key-not-found'],
});

/**
 * Returns all current revocations, for a gateway that may have missed notices, for example because it was not running
 * (docs/adr/0007).
 */
export const getRevocations = internalOperation({
  name: 'identity.revocations',
  feature: 'auth',
  body: z.object({
    /** Where the last page ended; null for the first page. */
    after: z.string().nullable(),
  }),
  output: revocations.extend({ next: z.string().nullable() }),
  errors: [],
});

export const authOperations = [
  signUp,
  signIn,
  signOut,
  requestNewAccessToken,
  verifyExternalUser,
  changePassword,
  listSessions,
  deleteSession,
  getJwks,
] as const;

export const signingKeyOperations = [rotateKeys, revokeKey] as const;
