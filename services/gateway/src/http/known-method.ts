const known = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);

/** A method's name in metrics and spans: clients may send any method, and `_OTHER` stands for all that HTTP does not define. */
export function knownMethod(method: string): string {
  return known.has(method) ? method : '_OTHER';
}
