import { type OperationSpec, takesKey } from '@kith/contracts';
import { type JsonObject, ref } from './json.ts';

const line = (description: string, example: string): JsonObject => ({
  description,
  schema: { type: 'string', maxLength: 2048, pattern: '^[\\x20-\\x7e]*$' },
  example,
});
const count = (description: string, example: number): JsonObject => ({
  description,
  schema: { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  example,
});

/** Every header that an answer of the API may carry. */
export const headers: Readonly<Record<string, JsonObject>> = {
  'X-Request-Id': line(
    'The id of the request in the logs: the id that the client sent, or a new id.',
    'a1b2c3',
  ),
  'Access-Control-Allow-Origin': line(
    'The web origin of the calling page, if the page may read the answer.',
    'https://app.example.org',
  ),
  'RateLimit-Policy': line(
    'The limit: `q` requests in `w` seconds (draft-ietf-httpapi-ratelimit-headers-10).',
    '"connections.list";q=100;w=300',
  ),
  RateLimit: line(
    'What is left of the limit: `r` requests, until `t` seconds from now.',
    '"connections.list";r=99;t=300',
  ),
  'X-RateLimit-Limit': count('How many requests the limit allows, for older clients.', 100),
  'X-RateLimit-Remaining': count('How many requests are left, for older clients.', 99),
  'X-RateLimit-Reset': count('When the count of requests starts again, in Unix seconds.', 1_767_603_900),
  'Retry-After': count('Seconds to wait before the request is sent again.', 1),
  'WWW-Authenticate': line('The scheme of the token that is needed.', 'Bearer'),
  Link: line(
    'The address of the next page, if there is one (RFC 8288).',
    '<?cursor=b3BhcXVl&limit=20>; rel="next"',
  ),
  ETag: line('Identifies these bytes, for `If-None-Match`, `If-Match` and `If-Range`.', '"d2hhdCBpdCBpcw"'),
  'Last-Modified': line(
    'When the file was stored. An imported file has no such header.',
    'Mon, 23 Nov 2026 12:00:00 GMT',
  ),
  'Accept-Ranges': line('Says that a request can ask for a part of the bytes with `Range`.', 'bytes'),
  'Content-Range': line(
    'The part of the bytes in this answer, and the total number of bytes.',
    'bytes 0-1023/146515',
  ),
  'Idempotency-Replayed': line(
    'An earlier request with the same `Idempotency-Key` was already answered, and this is the same answer.',
    'true',
  ),
  'Content-Disposition': line('The name to save the answer under.', 'attachment; filename="export.json"'),
};

const ofBytes = ['ETag', 'Last-Modified', 'Accept-Ranges', 'Content-Range', 'Content-Disposition'];
const always = ['X-Request-Id', 'Access-Control-Allow-Origin'];
const ofLimits = Object.keys(headers).filter((name) => name.includes('RateLimit'));

/** The headers of an error. */
export function headersOfError(status: string): JsonObject {
  const own =
    status === '401'
      ? ['WWW-Authenticate']
      : ['429', '503'].includes(status)
        ? ['Retry-After']
        : status === '416'
          ? ['Content-Range']
          : [];
  return refs([...always, ...(status === 'default' ? [] : ofLimits), ...own]);
}

/** The headers of an operation's successful answer. */
export function headersOfSuccess(operation: OperationSpec): JsonObject {
  const isList = Object.hasOwn(operation.query.shape, 'cursor');
  return refs([
    ...always,
    ...(operation.limit ? ofLimits : []),
    ...(isList ? ['Link'] : []),
    ...(takesKey(operation) ? ['Idempotency-Replayed'] : []),
    ...(operation.kind === 'export' ? ['Content-Disposition'] : []),
    ...(operation.kind === 'download' ? ofBytes : []),
  ]);
}

function refs(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, ref('headers', name)]));
}
