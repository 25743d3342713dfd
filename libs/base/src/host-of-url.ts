/** The host of an address that one can connect to, for a URL: what means every interface is reached at loopback. */
export function hostOfUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
