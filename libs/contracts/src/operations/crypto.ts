import { z } from 'zod';
import { operation } from '../operation.ts';
import { longestString, shownText } from '../scalars.ts';
import { nothing, perFiveMinutes } from './shared.ts';

/** A text that is not empty. A text that consists of blanks is accepted, and stays as it is (spec#test-tokens-blank). */
const filled = (message?: string) =>
  z
    .string(message)
    .min(1, message ?? 'must not be empty.')
    .meta({ maxLength: longestString });

/** An object that must contain the id of its user. */
const userIn = (key: string) =>
  z.looseObject({
    id: filled(`The user id is missing from the payload: ${key}.id must be a string, not empty.`),
  });
const key = { projectId: filled(), privateKey: filled() };

/**
 * Signs a token for tests with the caller's own RSA key (spec#test-tokens-sign). If several fields are wrong, the error names
 * the first wrong one, in the order `payload.id`, `payload`, `projectId`, `privateKey`. `payload` may have fields other than
 * `id`. The token keeps these fields.
 */
export const signTestingJwt = operation({
  name: 'crypto.sign-testing-jwt',
  summary: 'Sign a token for tests',
  feature: 'crypto',
  method: 'POST',
  path: '/crypto/sign-testing-jwt',
  scope: 'project',
  auth: 'none',
  limit: perFiveMinutes(100),
  params: nothing,
  query: nothing,
  body: z.object({
    payload: userIn('payload'),
    ...key,
  }),
  output: z.object({ token: shownText(2 * longestString) }),
  status: 200,
  errors: [],
  invalid: { body: 'crypto/missing-params' },
  testOnly: true,
  answersDeleted: true,
});

/**
 * The variant of `sign-testing-jwt` that older client libraries call. The payload is in `userData`, and the answer is the bare
 * token as text (spec#existing-clients-sign).
 */
export const signTestingJwtV2 = operation({
  ...signTestingJwt,
  name: 'crypto.sign-testing-jwt-v2',
  summary: 'Sign a token for tests, and answer with text',
  path: '/crypto/sign-testing-jwt/v2',
  body: z.object({
    userData: userIn('userData'),
    ...key,
  }),
  output: shownText(2 * longestString),
  contentType: 'text/plain; charset=utf-8',
});

export const cryptoOperations = [signTestingJwt, signTestingJwtV2] as const;
