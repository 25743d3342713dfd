/**
 * The host of a listening address, in a form that clients can use in a URL. If the address stands for all interfaces, the
 * result is the loopback address.
 */
export function hostOfUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
