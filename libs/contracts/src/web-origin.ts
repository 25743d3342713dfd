import { text } from './scalars.ts';

const longest = 300;
/** If a host in a list begins with this text, it stands for all hosts that have exactly one label in place of the `*`. */
const anyLabel = '*.';

/**
 * Whether a text is a web origin as browsers send it (RFC 6454): scheme, host and port, and nothing after them. The first
 * label of a host may be `*`, which stands for one label (spec#projects-web-origins-wildcard).
 */
export function isWebOrigin(value: string): boolean {
  const [, scheme = '', host = ''] = /^(https?:\/\/)(.+)$/.exec(value) ?? [];
  const isWild = host.startsWith(anyLabel);
  const named = isWild ? host.slice(anyLabel.length) : host;
  const plain = `${scheme}${named}`;
  if (value.length > longest || named.includes('*') || !URL.canParse(plain)) return false;
  const { origin, hostname } = new URL(plain);
  // A `*` is not allowed directly below a top-level domain, because it would allow the sites of many owners. It is not allowed
  // in an IP address either, because an IP address has no labels.
  const mayBeWild = hostname === 'localhost' || (hostname.includes('.') && !/^[\d.]+$/.test(hostname));
  return origin === plain && (!isWild || mayBeWild);
}

/** Whether an origin is in a list, or matches an entry of the list that has a `*`. */
export function listsOrigin(listed: readonly string[], origin: string): boolean {
  if (listed.includes(origin)) return true;
  const [, scheme, parent] = /^(https?:\/\/)[^./:@[\]]+\.([^/@]+)$/.exec(origin) ?? [];
  return parent !== undefined && listed.includes(`${scheme}${anyLabel}${parent}`);
}

/** A web origin that an operator sets. */
export const webOrigin = text({ max: longest })
  .transform((value) => value.toLowerCase())
  .refine(
    isWebOrigin,
    'must be an origin, such as https://app.example.org or https://*.example.org. No * is allowed directly below a top-level domain or in an IP address.',
  );
