import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ApiError } from '@kith/base';
import type { ByteRange } from '@kith/store/blobs';

/** The facts about a file that decide whether the conditions of a request are met. */
export interface Validators {
  /** The file's strong entity tag (`ETag`), with its quotes. */
  etag: string;
  /**
   * When the file was changed, in Unix ms; undefined if this is not known. The dates in headers have only whole seconds, so the
   * milliseconds are ignored.
   */
  modifiedAt: number | undefined;
  size: number;
}

/** The kind of answer that a request for bytes gets. */
export type Wanted = { kind: 'unchanged' } | { kind: 'whole' } | { kind: 'part'; range: ByteRange };

/**
 * Checks the conditions of a request in the order of RFC 9110 section 13.2.2, and then the request's range. Throws
 * `request/precondition-failed` and `storage/invalid-range`.
 */
export function wantedOf(
  { headers, method }: Pick<IncomingMessage, 'headers' | 'method'>,
  of: Validators,
): Wanted {
  const match = headers['if-match'];
  const unmodified = headers['if-unmodified-since'];
  const meets = match === undefined ? !isAfter(of, unmodified) : names(match, of.etag, { weakly: false });
  if (!meets) throw new ApiError('request/precondition-failed');
  const noneMatch = headers['if-none-match'];
  const since = headers['if-modified-since'];
  const isUnchanged =
    noneMatch === undefined
      ? since !== undefined && isNot(of, since)
      : names(noneMatch, of.etag, { weakly: true });
  if (isUnchanged) return { kind: 'unchanged' };
  // Ranges are only for GET (RFC 9110 section 14.2).
  return method === 'HEAD' ? { kind: 'whole' } : partOf(headers, of);
}

/**
 * Decides which part of a file a request gets. If the request names several ranges, or a range in an unknown unit, the answer
 * is the whole file. If the request asks for the last bytes of an empty file, the answer is the whole file, too. Such a range
 * is valid, but an answer cannot contain a part of zero bytes (RFC 9110 section 14.1.2).
 */
function partOf(headers: IncomingHttpHeaders, of: Validators): Wanted {
  const { range } = headers;
  const condition = headers['if-range'];
  const [, list] = /^bytes\s*=\s*(.*)$/i.exec(range?.trim() ?? '') ?? [];
  if (list === undefined || list.includes(',')) return { kind: 'whole' };
  if (typeof condition === 'string' && !isSame(condition, of)) return { kind: 'whole' };
  const [, first = '', last = ''] = /^(\d*)-(\d*)$/.exec(list.trim()) ?? [];
  if (first === '' && last === '') throw invalidRange(of);
  if (of.size === 0 && first === '' && Number(last) > 0) return { kind: 'whole' };
  const start = first === '' ? Math.max(of.size - Number(last), 0) : Number(first);
  const end = first === '' || last === '' ? of.size - 1 : Math.min(Number(last), of.size - 1);
  if (start > end || start >= of.size) throw invalidRange(of);
  return { kind: 'part', range: { start, end } };
}

/** Whether a list of entity tags contains a tag. `*` stands for any tag. */
function names(list: string, etag: string, { weakly }: { weakly: boolean }): boolean {
  if (list.trim() === '*') return true;
  const tags = list.match(/(W\/)?"[^"]*"/g) ?? [];
  return tags.some((tag) => tag === etag || (weakly && tag === `W/${etag}`));
}

/** Whether an `If-Range` header contains the file's tag or date. */
function isSame(condition: string, of: Validators): boolean {
  if (condition.includes('"')) return condition.trim() === of.etag;
  return secondsOf(condition) === modifiedSeconds(of);
}

/** Whether the file was changed after a date. Returns `false` if the date cannot be read. */
function isAfter(of: Validators, date: string | undefined): boolean {
  const seconds = date === undefined ? Number.NaN : secondsOf(date);
  return modifiedSeconds(of) > seconds;
}

function isNot(of: Validators, date: string): boolean {
  return modifiedSeconds(of) <= secondsOf(date);
}

/**
 * When the file was changed, in seconds since 1970. If this is not known, returns NaN: every comparison with NaN is false, so
 * the dates of a request are ignored (RFC 9110 section 13.1.3).
 */
function modifiedSeconds({ modifiedAt = Number.NaN }: Validators): number {
  return Math.floor(modifiedAt / 1000);
}

const httpDate = /^[a-z]{3,9}, \d\d[ -][a-z]{3}[ -](\d\d){1,2} \d\d:\d\d:\d\d GMT$/i;
const asctimeDate = /^[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i;

/**
 * Reads a date in one of the three forms of RFC 9110 section 5.6.7. Returns the seconds since 1970, or NaN for any text that is
 * no such date.
 */
function secondsOf(date: string): number {
  const text = date.trim();
  if (httpDate.test(text)) return Date.parse(text) / 1000;
  return asctimeDate.test(text) ? Date.parse(`${text} GMT`) / 1000 : Number.NaN;
}

/** The error that refuses a range, with the file's size (RFC 9110 section 15.5.17). */
function invalidRange({ size }: Validators): ApiError {
  return new ApiError('storage/invalid-range', { headers: { 'Content-Range': `bytes */${size}` } });
}
