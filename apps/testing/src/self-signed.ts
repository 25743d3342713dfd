import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * A certificate of `localhost` and its key. `authority` is the path of the file with the certificate. Clients trust this
 * certificate as the authority.
 */
export interface SelfSigned {
  key: Buffer;
  cert: Buffer;
  authority: string;
}

/** Makes a self-signed certificate in a folder. The certificate is also the authority that clients have to trust. */
export async function selfSigned(folder: string): Promise<SelfSigned> {
  const [keyFile, authority] = [join(folder, 'key.pem'), join(folder, 'authority.pem')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '90'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  await run('openssl', ['req', ...kind, '-keyout', keyFile, '-out', authority, ...names]);
  return { key: await readFile(keyFile), cert: await readFile(authority), authority };
}
