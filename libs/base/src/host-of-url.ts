/**
 * The host of a listening address, in the form for a URL that clients can connect to: an address that means every
 * interface becomes loopback.
 */
export function hostOfUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
