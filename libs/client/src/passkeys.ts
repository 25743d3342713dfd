import type { Methods } from './generated/types.ts';

type Begun = Methods['auth.enrolFactor']['output'];
/** What a page needs to make a passkey: the `options` in the answer of `auth.enrolFactor`. */
export type PasskeyCreation = Extract<Begun, { options: unknown }>['options'];
/** The data with which a page asks for a passkey. `auth.challengePasskey` and `auth.challengeSignIn` answer with it. */
export type PasskeyRequest = Methods['auth.challengePasskey']['output'];
/** The value that a page passes to `auth.confirmFactor` as `passkey`. */
export type NewPasskey = NonNullable<Methods['auth.confirmFactor']['input']['passkey']>;
/** The value that a page passes to `auth.signIn` and `auth.stepUp` as `passkey`. */
export type ShownPasskey = NonNullable<Methods['auth.signIn']['input']['passkey']>;

/** The globals of a page that this file uses (WebAuthn Level 3). */
interface Page {
  PublicKeyCredential?: {
    parseCreationOptionsFromJSON(options: PasskeyCreation): unknown;
    parseRequestOptionsFromJSON(options: PasskeyRequest): unknown;
  };
  navigator: {
    credentials: Record<
      'create' | 'get',
      (options: { publicKey: unknown }) => Promise<{ toJSON(): unknown } | null>
    >;
  };
}

const page = globalThis as unknown as Page;

/** Whether this page can make and use passkeys. Browsers of 2025 and later can do so on HTTPS and localhost. */
export function hasPasskeys(): boolean {
  const { PublicKeyCredential: credential } = page;
  return credential !== undefined && 'parseCreationOptionsFromJSON' in credential;
}

/** Makes the browser create a passkey. Call it in reaction to a click of the user. Rejects if the user declines. */
export async function createPasskey(options: PasskeyCreation): Promise<NewPasskey> {
  const publicKey = page.PublicKeyCredential?.parseCreationOptionsFromJSON(options);
  return (await page.navigator.credentials.create({ publicKey }))?.toJSON() as NewPasskey;
}

/**
 * Makes the browser ask for a passkey. Call it in reaction to a click of the user. Rejects if the user declines, or has no
 * passkey on this device.
 */
export async function getPasskey(options: PasskeyRequest): Promise<ShownPasskey> {
  const publicKey = page.PublicKeyCredential?.parseRequestOptionsFromJSON(options);
  return (await page.navigator.credentials.get({ publicKey }))?.toJSON() as ShownPasskey;
}
