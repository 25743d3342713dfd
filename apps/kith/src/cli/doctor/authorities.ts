import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Check, type Finding } from './finding.ts';

/**
 * Lets this process trust the certificates in the file that NODE_EXTRA_CA_CERTS names in `env`. Node reads this variable only
 * from the environment in which the process starts. So a variable from `--env-file` would otherwise have no effect.
 */
export function trustAuthorities({ NODE_EXTRA_CA_CERTS: file }: NodeJS.ProcessEnv): Finding[] {
  if (!file || file === process.env.NODE_EXTRA_CA_CERTS) return [];
  const check = new Check('certificate');
  try {
    setDefaultCACertificates([...getCACertificates('default'), readFileSync(file, 'utf8')]);
  } catch (error) {
    check.wrong(
      `NODE_EXTRA_CA_CERTS: ${file} cannot be used (${(error as NodeJS.ErrnoException).code}).`,
      'Name a file of certificates in PEM format that the user of the service can read.',
    );
  }
  return check.findings;
}
