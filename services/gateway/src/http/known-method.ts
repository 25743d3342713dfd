const known = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);

/** A method as metrics and spans name it: clients may send any, and `_OTHER` is all that are none of HTTP's own. */
export function knownMethod(method: string): string {
  return known.has(method) ? method : '_OTHER';
}
