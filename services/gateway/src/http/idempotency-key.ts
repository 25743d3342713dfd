import { ApiError } from '@kith/base';
import { type OperationSpec, takesKey } from '@kith/contracts';

/** A string in quotes, as RFC 9651 section 3.3.3 defines it. */
const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
/**
 * The form of a key without quotes around it. The key contains no space, because Node joins two header lines with a comma and a
 * space, and the result must not count as one key. The key contains no quote, because a text with a quote is either a quoted
 * key or malformed.
 */
const bare = /^[\x21\x23-\x7e]+$/;
const longest = 255;

/**
 * The Idempotency-Key of a request, without its quotes (draft-ietf-httpapi-idempotency-key-header-07). Undefined if the
 * operation takes no key, or takes no key from this caller (spec#idempotency-scope). Throws `request/invalid-idempotency-key`.
 */
export function idempotencyKeyOf(
  header: string | string[] | undefined,
  { operation, hasCaller }: { operation: OperationSpec; hasCaller: boolean },
): string | undefined {
  if (header === undefined || !takesKey(operation)) return undefined;
  if (!hasCaller && !operation.keyedByProject) return undefined;
  const text = String(header);
  const key = quoted.exec(text)?.[1]?.replaceAll(/\\(["\\])/g, '$1') ?? bare.exec(text)?.[0] ?? '';
  if (key.length < 1 || key.length > longest) throw new ApiError('request/invalid-idempotency-key');
  return key;
}
