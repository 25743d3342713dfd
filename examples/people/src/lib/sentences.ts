import { isKithError, type KithErrorCode, KithNetworkError } from '@kith/client';

/**
 * For each error code, the sentence that the application shows. The platform's own texts are not shown, because they are for
 * developers.
 */
const sentences: Partial<Record<KithErrorCode, string>> = {
  'auth/invalid-credentials': 'This e-mail address and password do not belong together.',
  'auth/weak-password': 'Choose a password of at least 8 characters that is not one of the most used ones.',
  'auth/too-many-attempts': 'There were too many attempts. Wait a while and try again.',
  'auth/invalid-second-factor': 'This code or passkey is not valid. Try the next code.',
  'auth/step-up-required': 'Prove again that it is you, then try again.',
  'auth/invalid-rp-id': 'Passkeys cannot be used at this address.',
  'auth/factor-not-found': 'There is no passkey of yours for this page.',
  'auth/too-many-factors': 'You have ten second factors already. Remove one first.',
  'auth/suspended': 'This account is suspended.',
  'auth/email-not-verified': 'Open the link in the mail that was sent to you, then sign in.',
  'auth/sign-up-closed': 'New accounts cannot be made here.',
  'auth/invalid-reset-token': 'This link has expired or was used. Ask for another mail.',
  'auth/invalid-or-expired-token': 'This code or link is wrong, or has expired. Ask for another mail.',
  'auth/mail-unavailable': 'Mails cannot be sent right now.',
  'auth/unauthorized': 'Your session has ended. Sign in again.',
  'auth/token-reuse-detected': 'Your session was ended, to be safe. Sign in again.',
  DUPLICATE_EMAIL: 'There is an account with this e-mail address already.',
  DUPLICATE_USERNAME: 'This username is taken.',
  'project/not-found': 'This application is not set up on the platform.',
  'connection/request-pending': 'One of you has asked the other already.',
  'connection/already-connected': 'You are connected already.',
  'connection/request-declined': 'Your earlier request was declined.',
  'connection/not-allowed': 'You cannot connect with this person.',
  'connection/not-found': 'This request is not there any more.',
  'connection/user-not-found': 'This person is not here any more.',
  'connection/invalid-message': 'A message can have at most 1,000 characters.',
  'user/not-found': 'This person is not here any more.',
  'collection/not-found': 'This folder is not there any more.',
  'collection/invalid-parent': 'The folder that should contain this folder is not there any more.',
  'collection/invalid-name': 'A name needs 1 to 200 characters.',
  'collection/too-deep': 'Folders cannot be nested any deeper.',
  'storage/invalid-image': 'This is no picture that can be shown. Use JPEG, PNG, WebP, GIF or AVIF.',
  'storage/file-too-large': 'A picture can have at most 50 MB.',
  'storage/quota-exceeded': 'There is no room left for your files.',
  'rate-limit/exceeded': 'That was a lot at once. Wait a moment and try again.',
  'gateway/unavailable': 'This is not available right now. Try again in a moment.',
};

const fields: Record<string, string> = {
  email: 'This is no e-mail address.',
  password: 'Enter a password.',
  username: 'Use 3 to 30 letters, digits, dots and underscores.',
  name: 'A name can have at most 100 characters.',
  bio: 'This text can have at most 300 characters.',
  newEmail: 'This is no e-mail address.',
  newPassword: 'Use 8 to 256 characters.',
};

/** Returns a sentence that describes an error to the people who use the application. */
export function sentenceOf(error: unknown): string {
  if (error instanceof KithNetworkError) return 'The platform cannot be reached. Check your connection.';
  // This error is thrown when somebody cancels a dialog of the browser or of the application.
  if (error instanceof DOMException) return 'You have stopped this, so nothing has changed.';
  if (!isKithError(error)) return 'Something went wrong.';
  return sentences[error.code] ?? fields[error.field ?? ''] ?? 'Something went wrong. Try again.';
}

/** Returns the sentence of an error about one field of a form; `undefined` if the error is not about this field. */
export function sentenceFor(error: unknown, field: string): string | undefined {
  if (!isKithError(error) || !error.errors.some((one) => one.field === field)) return undefined;
  return field === error.field ? sentenceOf(error) : (fields[field] ?? sentenceOf(error));
}

/** Returns the field that an error is about; `undefined` if the error is about no field. */
export function fieldOf(error: unknown): string | undefined {
  return isKithError(error) ? error.field : undefined;
}
