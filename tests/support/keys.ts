import { generateKeyPairSync } from 'node:crypto';

/** A private key as Base64 of its PEM, as the signing endpoint expects it. */
export function privateKey(options: { bits?: number; type?: 'pkcs8' | 'pkcs1' } = {}): string {
  const { bits = 2048, type = 'pkcs8' } = options;
  const pair = generateKeyPairSync('rsa', { modulusLength: bits });
  return Buffer.from(pair.privateKey.export({ format: 'pem', type })).toString('base64');
}

/** An RSA private key, and its public key to verify signatures. */
export function keyPair() {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = pair.privateKey.export({ format: 'pem', type: 'pkcs8' });
  return { publicKey: pair.publicKey, privateKey: Buffer.from(pem).toString('base64') };
}

/** An EC private key as Base64 of its PEM. */
export function ecKey(): string {
  const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return Buffer.from(key.export({ format: 'pem', type: 'pkcs8' })).toString('base64');
}
