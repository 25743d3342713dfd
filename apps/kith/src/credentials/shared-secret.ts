import { join } from 'node:path';
import { secretNames } from '../services.ts';
import { kept, newPassword, type Owner, writePrivate } from './private-files.ts';

/** The processes that read the secret of the installation. The first one's folder is where the others' files are copied from. */
export const secretReaders = ['gateway', ...secretNames] as const;

const current = (folder: string, name = 'gateway') => join(folder, name, 'secret');
/** The secret from before a change that has not ended yet. Otherwise the file is empty. */
const previous = (folder: string, name = 'gateway') => join(folder, name, 'previous-secret');

/**
 * Gives the secret of the installation to the gateway, to the services that trust its signatures, to the services that seal data,
 * and to the operator, whose commands seal data again. Makes the secret on first use.
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
 * Makes a new secret. The one before stays beside it until `endSecretChange`. Returns whether this call has made the new secret: if
 * a change has begun and not ended, it makes no other.
 */
export function beginSecretChange(folder: string, owner?: Owner): boolean {
  const secret = kept(current(folder), newPassword, owner);
  const before = kept(previous(folder), () => '', owner);
  // A second new secret would replace the one under which data may still be sealed. If both are the same, a call has died halfway.
  const isNew = before === '' || before === secret;
  if (isNew) {
    writePrivate(previous(folder), secret, owner);
    writePrivate(current(folder), newPassword(), owner);
  }
  shareSecret(folder, owner);
  return isNew;
}

/** Forgets the secret from before the change. */
export function endSecretChange(folder: string, owner?: Owner): void {
  writePrivate(previous(folder), '', owner);
  shareSecret(folder, owner);
}
