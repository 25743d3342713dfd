/** Whether mails may go to this server in plain text over a network, by the address's own query. */
export function mayGoPlain(address: string): boolean {
  const url = new URL(address);
  if (url.protocol === 'smtps:' || isLocal(url)) return false;
  const required = url.searchParams.getAll('requireTLS');
  // The one that goes before the other in nodemailer.
  if (required.length > 0) return required.some((value) => value !== 'true');
  return url.searchParams.getAll('ignoreTLS').some((value) => value !== 'false');
}

/** Whether it is left open who the server is: anybody in between could read mails. */
export function isUnverified(address: string): boolean {
  const url = new URL(address);
  return !isLocal(url) && url.searchParams.getAll('tls.rejectUnauthorized').some((value) => value !== 'true');
}

/** The address with TLS required, but for this machine itself or where the address says otherwise. */
export function withTls(address: string): string {
  const url = new URL(address);
  if (url.protocol === 'smtp:' && !isLocal(url) && !mayGoPlain(address))
    url.searchParams.set('requireTLS', 'true');
  return url.href;
}

function isLocal({ hostname }: URL): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname);
}
