import { chmodSync } from 'node:fs';

/** Calls a function as a user who has no right to look into a folder. The function must be synchronous. */
export function asStranger<T>(folder: string, call: () => T): T {
  // Root may look into every folder, whatever its mode is. So root becomes another user for the time of the call.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  else chmodSync(folder, 0);
  try {
    return call();
  } finally {
    if (isRoot) process.seteuid?.(0);
    else chmodSync(folder, 0o700);
  }
}
