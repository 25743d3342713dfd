import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '@kith/base';
import { describe, expect, it } from 'vitest';
import { wantedOf } from './conditions.ts';

const etag = '"a,b"';
const at = 'Sun, 06 Nov 1994 08:49:37 GMT';
const before = 'Sun, 06 Nov 1994 08:49:36 GMT';
const after = 'Sun, 06 Nov 1994 08:49:38 GMT';
// Dates in headers have only whole seconds, so the milliseconds of this time must not matter.
const modifiedAt = Date.parse(at) + 678;

/**
 * The outcome of a request for a file of `size` bytes: a status or an error code. If the request gets a part of the file, the
 * status is followed by the numbers of the first and the last byte.
 */
function answerTo(
  headers: IncomingHttpHeaders,
  { size = 100, method = 'GET', ...of }: { size?: number; method?: string; modifiedAt?: undefined } = {},
): string {
  try {
    const wanted = wantedOf({ headers, method }, { etag, modifiedAt, size, ...of });
    if (wanted.kind === 'part') return `206 ${wanted.range.start}-${wanted.range.end}`;
    return { unchanged: '304', whole: '200' }[wanted.kind];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const range = error.headers['Content-Range'];
    return `${error.code}${range ? ` ${range}` : ''}`;
  }
}

const failed = 'request/precondition-failed';
const beyond = 'storage/invalid-range bytes */100';

describe('conditions (RFC 9110 section 13)', () => {
  const ifMatch = (value: string) => ({ 'if-match': value });
  const ifNoneMatch = (value: string) => ({ 'if-none-match': value });
  const rows: readonly [string, IncomingHttpHeaders, string][] = [
    ['no condition', {}, '200'],
    ['If-Match with the tag', ifMatch(etag), '200'],
    ['If-Match with a list', ifMatch(`"x", ${etag},"y"`), '200'],
    ['If-Match with *', ifMatch(' * '), '200'],
    ['If-Match with another tag', ifMatch('"a"'), failed],
    ['If-Match with parts of the tag', ifMatch('"a", "b"'), failed],
    ['If-Match without a tag', ifMatch('a,b'), failed],
    ['If-Match compares strongly', ifMatch(`W/${etag}`), failed],
    ['If-Unmodified-Since the time of the file', { 'if-unmodified-since': at }, '200'],
    ['If-Unmodified-Since an earlier time', { 'if-unmodified-since': before }, failed],
    ['If-Unmodified-Since without a date', { 'if-unmodified-since': '1994' }, '200'],
    ['If-Match overrides If-Unmodified-Since', { ...ifMatch(etag), 'if-unmodified-since': before }, '200'],
    [
      'a failed If-Match overrides If-Unmodified-Since',
      { ...ifMatch('"x"'), 'if-unmodified-since': after },
      failed,
    ],
    ['If-None-Match with the tag', ifNoneMatch(etag), '304'],
    ['If-None-Match compares weakly', ifNoneMatch(`W/${etag}`), '304'],
    ['If-None-Match with a list', ifNoneMatch(`"x",W/"y" ,${etag}`), '304'],
    ['If-None-Match with *', ifNoneMatch('*'), '304'],
    ['If-None-Match with other tags', ifNoneMatch('"a", "b", "*"'), '200'],
    ['If-Modified-Since the time of the file', { 'if-modified-since': at }, '304'],
    ['If-Modified-Since a later time', { 'if-modified-since': after }, '304'],
    ['If-Modified-Since an earlier time', { 'if-modified-since': before }, '200'],
    ['If-Modified-Since without a date', { 'if-modified-since': '2999' }, '200'],
    ['a date in the RFC 850 form', { 'if-modified-since': 'Sunday, 06-Nov-94 08:49:37 GMT' }, '304'],
    ['an earlier date in the RFC 850 form', { 'if-modified-since': 'Sunday, 06-Nov-94 08:49:36 GMT' }, '200'],
    ['a date in the asctime form', { 'if-modified-since': 'Sun Nov  6 08:49:37 1994' }, '304'],
    ['an earlier date in the asctime form', { 'if-modified-since': 'Sun Nov  6 08:49:36 1994' }, '200'],
    [
      'If-None-Match overrides If-Modified-Since',
      { ...ifNoneMatch('"x"'), 'if-modified-since': after },
      '200',
    ],
    ['a failed If-Match overrides If-None-Match', { ...ifMatch('"x"'), ...ifNoneMatch(etag) }, failed],
    [
      'a failed If-Unmodified-Since overrides If-None-Match',
      { 'if-unmodified-since': before, ...ifNoneMatch(etag) },
      failed,
    ],
    ['an unchanged file overrides a range', { ...ifNoneMatch(etag), range: 'bytes=999-' }, '304'],
    ['a failed If-Match overrides a range', { ...ifMatch('"x"'), range: 'bytes=999-' }, failed],
  ];
  it.each(rows)('%s, %j: %s', (_, headers, answer) => {
    expect(answerTo(headers)).toBe(answer);
  });

  it.each([
    ['If-Modified-Since', { 'if-modified-since': after }],
    ['If-Unmodified-Since', { 'if-unmodified-since': before }],
    ['If-Range', { range: 'bytes=0-1', 'if-range': at }],
  ])('the condition %s is ignored if the time of the file is not known', (_, headers) => {
    expect(answerTo(headers, { modifiedAt: undefined })).toBe('200');
  });

  it('an asctime date is read as UTC in every time zone', () => {
    const zone = process.env.TZ;
    process.env.TZ = 'America/New_York';
    try {
      expect(answerTo({ 'if-modified-since': 'Sun Nov  6 08:49:36 1994' })).toBe('200');
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });
});

describe('ranges (RFC 9110 section 14)', () => {
  const rows: readonly [string, string][] = [
    ['bytes=0-0', '206 0-0'],
    ['bytes=10-19', '206 10-19'],
    ['bytes=10-', '206 10-99'],
    ['bytes=99-', '206 99-99'],
    ['bytes=90-1000', '206 90-99'],
    [`bytes=0-${'9'.repeat(400)}`, '206 0-99'],
    ['bytes=-1', '206 99-99'],
    ['bytes=-100', '206 0-99'],
    ['bytes=-101', '206 0-99'],
    [' Bytes = 1-2 ', '206 1-2'],
    ['bytes=100-', beyond],
    ['bytes=100-200', beyond],
    [`bytes=${'9'.repeat(400)}-`, beyond],
    ['bytes=5-4', beyond],
    ['bytes=-0', beyond],
    ['bytes=-', beyond],
    ['bytes=', beyond],
    ['bytes=x-', beyond],
    ['bytes=1-2x', beyond],
    ['bytes=+1-2', beyond],
    ['bytes=1', beyond],
    ['bytes=0-1,5-6', '200'],
    ['bytes=0-1,999-', '200'],
    ['items=0-1', '200'],
    ['0-1', '200'],
  ];
  it.each(rows)('%s: %s', (range, answer) => {
    expect(answerTo({ range })).toBe(answer);
  });

  it('HEAD ignores the range', () => {
    expect(answerTo({ range: 'bytes=0-1' }, { method: 'HEAD' })).toBe('200');
    expect(answerTo({ range: 'bytes=999-' }, { method: 'HEAD' })).toBe('200');
    expect(answerTo({ 'if-none-match': etag }, { method: 'HEAD' })).toBe('304');
  });

  it.each([
    ['bytes=0-', 'storage/invalid-range bytes */0'],
    ['bytes=0-0', 'storage/invalid-range bytes */0'],
    ['bytes=-0', 'storage/invalid-range bytes */0'],
    ['bytes=-5', '200'],
  ])('the range %s of an empty file: %s', (range, answer) => {
    expect(answerTo({ range }, { size: 0 })).toBe(answer);
  });

  it.each([
    ['the tag', etag, '206 0-1'],
    ['the tag as a weak tag', `W/${etag}`, '200'],
    ['another tag', '"x"', '200'],
    ['a list of tags', `${etag}, "x"`, '200'],
    ['the time of the file', at, '206 0-1'],
    ['an earlier time', before, '200'],
    ['a later time', after, '200'],
    ['a text that is not a date', 'yesterday', '200'],
  ])('If-Range with %s, %s: %s', (_, condition, answer) => {
    expect(answerTo({ range: 'bytes=0-1', 'if-range': condition })).toBe(answer);
  });

  it('a request with another tag in If-Range gets the whole file, even if its range is invalid; without a range, If-Range has no effect', () => {
    expect(answerTo({ range: 'bytes=999-', 'if-range': '"x"' })).toBe('200');
    expect(answerTo({ range: 'bytes=999-', 'if-range': etag })).toBe(beyond);
    expect(answerTo({ 'if-range': '"x"' })).toBe('200');
  });
});
