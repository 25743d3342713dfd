import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { Check, type Finding } from './finding.ts';

const dayMs = 24 * 3600_000;
const patienceMs = 5_000;

/** Checks the certificate at an https address as clients would. Also returns whether clients can use the address. */
export async function checkCertificate(
  address: string,
  leastDays: number,
): Promise<{ findings: Finding[]; isUsable: boolean }> {
  const check = new Check('certificate');
  let isUsable = false;
  const { hostname, port } = new URL(address);
  const host = hostname.replace(/^\[|\]$/g, ''); // An IPv6 address is in brackets.
  try {
    const { until, refusal } = await certificateAt(host, Number(port || 443));
    const days = (until - Date.now()) / dayMs;
    isUsable = days >= 0 && refusal === undefined;
    const renew =
      'Renew the certificate, and let the proxy renew it by itself from now on (docs/hosting.md).';
    if (days < 0) check.wrong(`The certificate of ${host} has expired.`, renew);
    else if (refusal)
      check.wrong(
        `Clients refuse the certificate of ${host}: ${refusal}.`,
        'Get a certificate for this name from an authority that clients trust. If the authority is your own, set NODE_EXTRA_CA_CERTS to the file of its certificate.',
      );
    else if (days < leastDays)
      check.wrong(`The certificate of ${host} expires in ${Math.floor(days)} days.`, renew);
    else check.ok(`The certificate of ${host} is valid for another ${Math.floor(days)} days.`);
  } catch (error) {
    check.wrong(
      `There is no TLS at ${host}:${port || 443} (${(error as NodeJS.ErrnoException).code ?? (error as Error).message}).`,
      'Start the proxy in front, and check that PUBLIC_URL is its address.',
    );
  }
  return { findings: check.findings, isUsable };
}

/** Returns the time at which a server's certificate expires. If clients refuse the certificate, also returns the reason. */
function certificateAt(host: string, port: number): Promise<{ until: number; refusal: string | undefined }> {
  return new Promise((resolve, reject) => {
    // Bad certificates are accepted here, because this function only examines the certificate and sends no data.
    const servername = isIP(host) ? {} : { servername: host };
    const socket = connect({ host, port, ...servername, rejectUnauthorized: false, timeout: patienceMs });
    const end = (settle: () => void) => {
      socket.destroy();
      settle();
    };
    socket.once('error', (error) => end(() => reject(error)));
    socket.once('timeout', () => end(() => reject(new Error('no answer'))));
    socket.once('secureConnect', () => {
      const { valid_to: until } = socket.getPeerCertificate();
      const refusal = socket.authorized ? undefined : String(socket.authorizationError);
      end(() => resolve({ until: Date.parse(until), refusal }));
    });
  });
}
