import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** The user that will own a file, if this process may change owners. */
export interface Owner {
  uid: number;
  gid: number;
}

/** Makes a folder that only its owner may enter. */
export function makePrivateFolder(folder: string, owner?: Owner): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  if (owner) chownSync(folder, owner.uid, owner.gid);
}

/** Writes a file that only its owner may read. Writes the file completely or not at all. */
export function writePrivate(file: string, content: string, owner?: Owner): void {
  makePrivateFolder(dirname(file), owner);
  const unfinished = `${file}.new`;
  writeFileSync(unfinished, content, { mode: 0o600, flush: true });
  chmodSync(unfinished, 0o600);
  if (owner) chownSync(unfinished, owner.uid, owner.gid);
  renameSync(unfinished, file);
}

/** Returns the content of a file. If there is no file yet, makes the content and writes the file. */
export function kept(file: string, make: () => string, owner?: Owner): string {
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const content = make();
  writePrivate(file, content, owner);
  return content;
}

/** Makes a password of 256 bits. Its characters need no escaping in a URL or a configuration. */
export const newPassword = () => randomBytes(32).toString('base64url');

/**
 * Makes a user the owner of a folder and everything in it. Does nothing if the user already owns the folder, because a change
 * takes long in a folder with a large database. With `always`, always changes the owner.
 */
export function handOver(folder: string, { uid, gid }: Owner, { always = false } = {}): void {
  if (!existsSync(folder) || (!always && statSync(folder).uid === uid)) return;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(folder, name), uid, gid);
  // The folder itself comes last. So if this call is interrupted, the folder still has its old owner, and the next call starts
  // again.
  chownSync(folder, uid, gid);
}
