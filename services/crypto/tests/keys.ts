import { generateKeyPairSync, type KeyObject } from 'node:crypto';

/** A PEM as the API takes it. */
export function base64Of(pem: string | Buffer): string {
  return Buffer.from(pem).toString('base64');
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const encryption = { cipher: 'aes-256-cbc', passphrase: 'x' };
const pkcs8 = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' });

export const publicKey = rsa.publicKey;

/** PEM texts of keys that sign. */
export const goodPems = {
  pkcs8: pkcs8(rsa.privateKey),
  pkcs1: rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }),
};

/** PEM texts of keys that do not. */
export const badPems = {
  ecPkcs8: pkcs8(ec.privateKey),
  ecSec1: ec.privateKey.export({ type: 'sec1', format: 'pem' }),
  ed25519: pkcs8(generateKeyPairSync('ed25519').privateKey),
  rsa1024: pkcs8(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey),
  rsaPss: pkcs8(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey),
  public: rsa.publicKey.export({ type: 'spki', format: 'pem' }),
  encryptedPkcs8: rsa.privateKey.export({ type: 'pkcs8', format: 'pem', ...encryption }),
  encryptedPkcs1: rsa.privateKey.export({ type: 'pkcs1', format: 'pem', ...encryption }),
  cut: `${goodPems.pkcs8.slice(0, 500)}\n-----END PRIVATE KEY-----\n`,
};
