import { createPrivateKey, type KeyObject } from 'node:crypto';

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const minBits = 2048;
/**
 * The largest size of a key, in bits. The time to sign grows with the cube of the number of bits. A key of 16,384 bits takes
 * sixty times as long as a key of 4,096 bits.
 */
const maxBits = 4_096;
/**
 * The limit of the public exponent. Nearly all keys have the exponent 65,537. With a much larger exponent, each signature is
 * many times as expensive.
 */
const maxExponent = 2n ** 32n;
/** The PEM of a key of 4,096 bits has 3.3 KB. The limit leaves room for line breaks and for text before the key. */
const maxPemBytes = 8 * 1024;

/**
 * Reads an RSA key for RS256. The text is a PEM in PKCS#8 or PKCS#1, encoded in base64 (RFC 4648 section 4). Line breaks inside
 * the base64 are accepted. If the key is refused, throws an error whose message contains no part of the input
 * (spec#test-tokens-secrecy).
 */
export function readSigningKey(privateKey: string): KeyObject {
  const text = privateKey.replaceAll(/[\r\n]+/g, '').trim();
  if (!base64.test(text)) throw new Error('The private key is not base64.');
  const pem = Buffer.from(text, 'base64');
  if (!pem.includes('-----BEGIN ')) throw new Error('The private key is not a PEM.');
  if (pem.length > maxPemBytes) throw new Error('The private key is too large.');
  // Encrypted keys are detected here, because OpenSSL only says "interrupted or cancelled" about them.
  if (/^(-----BEGIN ENCRYPTED|Proc-Type:.*ENCRYPTED)/m.test(pem.toString('latin1'))) {
    throw new Error('The private key is encrypted.');
  }
  const key = createPrivateKey({ key: pem, format: 'pem' });
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key.asymmetricKeyType !== 'rsa') {
    throw new Error(`The private key is not an RSA key but of type ${key.asymmetricKeyType}.`);
  }
  if (bits < minBits) throw new Error(`The RSA key has ${bits} bits; RS256 needs ${minBits} or more.`);
  if (bits > maxBits) throw new Error(`The RSA key has ${bits} bits; at most ${maxBits} bits are allowed.`);
  if ((key.asymmetricKeyDetails?.publicExponent ?? 0n) > maxExponent) {
    throw new Error('The RSA key has a public exponent of over 32 bits.');
  }
  refuseSlow(key);
  return key;
}

/**
 * Refuses a key whose private numbers are longer than its modulus requires. Such a key can sign, but the time of each signature
 * grows with the length of these numbers. Older versions of OpenSSL do not limit the length, and newer versions limit it only
 * by the modulus.
 */
function refuseSlow(key: KeyObject): void {
  const { n, d, ...others } = key.export({ format: 'jwk' });
  const halves = [others.p, others.q, others.dp, others.dq, others.qi].map(bytesOf);
  const [modulus, exponent] = [bytesOf(n), bytesOf(d)];
  const mostInHalf = Math.ceil(modulus.length / 2) + 1;
  if (exponent.length > modulus.length || halves.some(({ length }) => length > mostInHalf)) {
    throw new Error('The RSA key has private numbers that are too long for its modulus.');
  }
  const [p, q] = halves as [Buffer, Buffer];
  if (numberOf(p) * numberOf(q) !== numberOf(modulus)) {
    throw new Error('The modulus of the RSA key is not the product of its two primes.');
  }
}

function bytesOf(text = ''): Buffer {
  return Buffer.from(text, 'base64url');
}

function numberOf(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex') || '0'}`);
}
