/** Whether mails may go to this mail server over a network in plain text. The query of the server's address can allow this. */
export function mayGoPlain(address: string): boolean {
  const url = new URL(address);
  if (url.protocol === 'smtps:' || isLocal(url)) return false;
  const required = url.searchParams.getAll('requireTLS');
  // In nodemailer, `requireTLS` takes precedence over `ignoreTLS`. So if `requireTLS` is given, it alone decides.
  if (required.length > 0) return required.some((value) => value !== 'true');
  return url.searchParams.getAll('ignoreTLS').some((value) => value !== 'false');
}

/**
 * Whether the check of the server's certificate is turned off. Without the check, somebody between this machine and the server
 * could read the mails.
 */
export function isUnverified(address: string): boolean {
  const url = new URL(address);
  return !isLocal(url) && url.searchParams.getAll('tls.rejectUnauthorized').some((value) => value !== 'true');
}

/**
 * Changes the address of a mail server so that the connection to it must use TLS. Three kinds of addresses stay as they are.
 * These are the address of this machine itself, an address that allows plain text, and an address that begins with `smtps:`,
 * which always means TLS.
 */
export function withTls(address: string): string {
  const url = new URL(address);
  if (url.protocol === 'smtp:' && !isLocal(url) && !mayGoPlain(address))
    url.searchParams.set('requireTLS', 'true');
  return url.href;
}

function isLocal({ hostname }: URL): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname);
}
