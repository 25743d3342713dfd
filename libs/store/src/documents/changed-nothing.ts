import { ApiError } from '@kith/base';

/** SQLite's error code for a failure to read or write a file. */
const ioError = 10;

/**
 * Whether the error of a change proves that the change was not made, and will not be made. After other errors, for example if
 * the connection to MongoDB broke, the change may have been made.
 */
export function changedNothing(error: unknown): boolean {
  if (error instanceof ApiError) return error.code === 'gateway/unavailable';
  const { code, errcode = 0 } = error as { code?: string; errcode?: number };
  // SQLite rolls a failed transaction back. But if the transaction was written and only `fsync` failed, the transaction may be
  // there again after a crash.
  return code === 'ERR_SQLITE_ERROR' && (errcode & 0xff) !== ioError;
}
