import { join } from 'node:path';
import { secretNames } from '../services.ts';
import { kept, newPassword, type Owner, writePrivate } from './private-files.ts';

/**
 * The processes that read the secret of the installation. The first process has the original files, and the other processes
 * have copies.
 */
export const secretReaders = ['gateway', ...secretNames] as const;

const current = (folder: string, name = 'gateway') => join(folder, name, 'secret');
/** The file with the previous secret. It is empty unless a change of the secret is under way. */
const previous = (folder: string, name = 'gateway') => join(folder, name, 'previous-secret');

/**
 * Gives the secret of the installation to the gateway and the operator. Also gives it to services that check the gateway's
 * signatures or seal data. The operator needs the secret for commands that seal data again. Makes the secret on first use.
 */
export function shareSecret(folder: string, owner?: Owner): void {
  const secret = kept(current(folder), newPassword, owner);
  const before = kept(previous(folder), () => '', owner);
  for (const name of ['operator', ...secretNames]) {
    writePrivate(previous(folder, name), before, owner);
    writePrivate(current(folder, name), secret, owner);
  }
}

/**
 * Makes a new secret, and keeps the previous secret beside it until `endSecretChange`. If a change is already under way, makes
 * no further secret. Returns whether this call has made a new secret.
 */
export function beginSecretChange(folder: string, owner?: Owner): boolean {
  const secret = kept(current(folder), newPassword, owner);
  const before = kept(previous(folder), () => '', owner);
  // If a change is under way, data may still be sealed under the previous secret. So the previous secret must not be replaced.
  // If the previous secret equals the current one, an earlier call has died before it made the new secret.
  const isNew = before === '' || before === secret;
  if (isNew) {
    writePrivate(previous(folder), secret, owner);
    writePrivate(current(folder), newPassword(), owner);
  }
  shareSecret(folder, owner);
  return isNew;
}

/** Removes the previous secret. */
export function endSecretChange(folder: string, owner?: Owner): void {
  writePrivate(previous(folder), '', owner);
  shareSecret(folder, owner);
}
