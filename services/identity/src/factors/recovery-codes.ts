import { hash } from 'node:crypto';
import { recoveryCodeCount } from '@kith/contracts';
import { Secret } from 'otpauth';

/** 15 bytes are 120 bits, which give 24 characters in base32. From 112 bits on, a plain hash is enough (OWASP ASVS 5 6.5.2). */
const bytes = 15;

/** Makes a set of recovery codes and their hashes. The codes are shown once, and only the hashes are stored. */
export function makeRecoveryCodes(): { codes: string[]; hashes: string[] } {
  const texts = Array.from({ length: recoveryCodeCount }, () => new Secret({ size: bytes }).base32);
  const codes = texts.map((text) => text.replaceAll(/(?<=.)(?=(?:.{6})+$)/g, '-'));
  return { codes, hashes: codes.map(hashRecoveryCode) };
}

/** The hash of a recovery code; spaces, hyphens and case do not matter. */
export function hashRecoveryCode(code: string): string {
  return hash('sha256', code.replaceAll(/[\s-]/g, '').toUpperCase(), 'base64url');
}
