const known = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);

/** A method's name in metrics and spans. Clients may send any method. If HTTP does not define the method, the name is `_OTHER`. */
export function knownMethod(method: string): string {
  return known.has(method) ? method : '_OTHER';
}
