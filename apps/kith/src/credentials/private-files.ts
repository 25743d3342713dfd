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

/** The owner that a file is to get, if this process may change owners. */
export interface Owner {
  uid: number;
  gid: number;
}

/** Makes a folder that its owner alone may enter. */
export function makePrivateFolder(folder: string, owner?: Owner): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  if (owner) chownSync(folder, owner.uid, owner.gid);
}

/** Writes a file, whole or not at all, that only its owner may read. */
export function writePrivate(file: string, content: string, owner?: Owner): void {
  makePrivateFolder(dirname(file), owner);
  const unfinished = `${file}.new`;
  writeFileSync(unfinished, content, { mode: 0o600, flush: true });
  chmodSync(unfinished, 0o600);
  if (owner) chownSync(unfinished, owner.uid, owner.gid);
  renameSync(unfinished, file);
}

/** The content of a file; made and written on first use. */
export function kept(file: string, make: () => string, owner?: Owner): string {
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const content = make();
  writePrivate(file, content, owner);
  return content;
}

/** A password of 256 bits, in characters that need no escape in a URL or a configuration. */
export const newPassword = () => randomBytes(32).toString('base64url');

/** Gives a folder and everything in it to a user. It is skipped if the folder is the user's already, as a database may be large. */
export function handOver(folder: string, { uid, gid }: Owner, { always = false } = {}): void {
  if (!existsSync(folder) || (!always && statSync(folder).uid === uid)) return;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(folder, name), uid, gid);
  // The folder itself comes last, so that an interrupted change of owners is repeated.
  chownSync(folder, uid, gid);
}
