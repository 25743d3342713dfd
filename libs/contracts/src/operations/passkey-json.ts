import { z } from 'zod';
import { shownText } from '../scalars.ts';

const base64url = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[\w-]+$/, 'must be base64url.');
const type = z.literal('public-key');
/** Ids of credentials have at most 1,023 bytes (WebAuthn Level 3, section 4). */
const credentialId = base64url(1364);
const clientDataJSON = base64url(8192);
const authenticatorData = base64url(8192);
const transports = z.array(z.string().max(32)).max(10);

/** A host: labels of letters, digits and hyphens. */
export const host = z
  .string()
  .max(253, 'must be at most 253 characters long.')
  .regex(/^[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)*$/i, 'must be a host name, such as example.com.')
  .transform((name) => name.toLowerCase());

/** A browser's answer for a new passkey: `RegistrationResponseJSON` of WebAuthn Level 3. */
export const passkeyRegistration = z.object({
  id: credentialId,
  type,
  response: z.object({
    clientDataJSON,
    authenticatorData,
    publicKey: base64url(2048),
    publicKeyAlgorithm: z.int(),
    transports: transports.default([]),
  }),
});

/** A browser's answer for a passkey that was used: `AuthenticationResponseJSON` of WebAuthn Level 3. */
export const passkeyAssertion = z.object({
  id: credentialId,
  type,
  response: z.object({ clientDataJSON, authenticatorData, signature: base64url(2048) }),
});

const descriptor = z.object({ type, id: shownText(1364), transports: z.array(shownText(32)).max(10) });
const algorithm = z.object({ type, alg: z.int() });

/** What a page needs to make a passkey: `PublicKeyCredentialCreationOptionsJSON` of WebAuthn Level 3. */
export const passkeyCreation = z.object({
  rp: z.object({ id: shownText(253), name: shownText(200) }),
  user: z.object({ id: shownText(64), name: shownText(320), displayName: shownText(320) }),
  challenge: shownText(64),
  pubKeyCredParams: z.array(algorithm).max(10),
  timeout: z.int(),
  excludeCredentials: z.array(descriptor).max(10),
  authenticatorSelection: z.object({
    residentKey: z.literal('preferred'),
    userVerification: z.literal('required'),
  }),
  attestation: z.literal('none'),
});

/** What a page needs to ask for a passkey: `PublicKeyCredentialRequestOptionsJSON` of WebAuthn Level 3. */
export const passkeyRequest = z.object({
  challenge: shownText(64),
  rpId: shownText(253),
  timeout: z.int(),
  userVerification: z.literal('required'),
  allowCredentials: z.array(descriptor).max(10),
});

export type PasskeyRegistration = z.output<typeof passkeyRegistration>;
export type PasskeyAssertion = z.output<typeof passkeyAssertion>;
export type PasskeyCreation = z.output<typeof passkeyCreation>;
export type PasskeyRequest = z.output<typeof passkeyRequest>;
