import { createPrivateKey, generateKeyPairSync, generatePrimeSync, type KeyObject } from 'node:crypto';

/** The base64 of a PEM, which is the form that the API takes. */
export function base64Of(pem: string | Buffer): string {
  return Buffer.from(pem).toString('base64');
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const encryption = { cipher: 'aes-256-cbc', passphrase: 'x' };
const pkcs8 = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' });

export const publicKey = rsa.publicKey;

/** PEM texts of keys that can sign. */
export const goodPems = {
  pkcs8: pkcs8(rsa.privateKey),
  pkcs1: rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }),
};

/** PEM texts of keys that are refused. */
export const badPems = {
  ecPkcs8: pkcs8(ec.privateKey),
  ecSec1: ec.privateKey.export({ type: 'sec1', format: 'pem' }),
  ed25519: pkcs8(generateKeyPairSync('ed25519').privateKey),
  rsa1024: pkcs8(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey),
  rsaPss: pkcs8(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey),
  public: rsa.publicKey.export({ type: 'spki', format: 'pem' }),
  encryptedPkcs8: rsa.privateKey.export({ type: 'pkcs8', format: 'pem', ...encryption }),
  encryptedPkcs1: rsa.privateKey.export({ type: 'pkcs1', format: 'pem', ...encryption }),
  rsa4104: pkcs8(generateKeyPairSync('rsa', { modulusLength: 4104 }).privateKey),
  largeExponent: pkcs8(withExponent(rsa.privateKey, 2n ** 89n - 1n)),
  cut: `${goodPems.pkcs8.slice(0, 500)}\n-----END PRIVATE KEY-----\n`,
};

/**
 * PEM texts of RSA keys with a number that is longer than necessary, or with more than two primes. A longer number makes each
 * signature slower.
 */
export const oddPems = (() => {
  const jwk = rsa.privateKey.export({ format: 'jwk' });
  const [n, e, d, p, q, dp, dq, qi] = ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'].map((name) =>
    read(jwk[name] as string),
  ) as [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint];
  const key = { n, e, d, p, q, dp, dq, qi };
  const times = 1n << 512n;
  const odd = {
    longD: { d: d + (p - 1n) * (q - 1n) * times },
    longP: { p: p * times + 1n },
    longQ: { q: q * times + 1n },
    longDp: { dp: dp + (p - 1n) * times },
    longDq: { dq: dq + (q - 1n) * times },
    longQi: { qi: qi + p * times },
  };
  const pems = Object.entries(odd).map(([name, change]) => [name, pemOf({ ...key, ...change })]);
  return { ...Object.fromEntries(pems), threePrimes: threePrimes() } as Record<
    keyof typeof odd | 'threePrimes',
    string
  >;
})();

type Parts = Record<'n' | 'e' | 'd' | 'p' | 'q' | 'dp' | 'dq' | 'qi', bigint>;

function threePrimes(): string {
  const e = 65_537n;
  // For each prime `p`, `p - 1` is 2 modulo `e`. So `e` always has an inverse.
  const prime = () => generatePrimeSync(700, { bigint: true, add: 2n * e, rem: 3n });
  const [p, q, r] = [prime(), prime(), prime()];
  const d = inverse(e, (p - 1n) * (q - 1n) * (r - 1n));
  const others = der(0x30, der(0x30, ...[r, d % (r - 1n), inverse(p * q, r)].map(integer)));
  const parts = { n: p * q * r, e, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) };
  return pemOf(parts, [others]);
}

/** A PEM in PKCS#1 (RFC 8017, appendix A.1.2). */
function pemOf({ n, e, d, p, q, dp, dq, qi }: Parts, others: Buffer[] = []): string {
  const version = others.length > 0 ? 1n : 0n;
  const key = der(0x30, ...[version, n, e, d, p, q, dp, dq, qi].map(integer), ...others);
  const lines = key
    .toString('base64')
    .match(/.{1,64}/g)
    ?.join('\n');
  return `-----BEGIN RSA PRIVATE KEY-----\n${lines}\n-----END RSA PRIVATE KEY-----\n`;
}

function integer(value: bigint): Buffer {
  const bytes = bytesOf(value);
  // Without a zero byte, a number whose first bit is set would be negative.
  const isNegative = ((bytes[0] ?? 0) & 0x80) !== 0;
  return der(0x02, ...(isNegative ? [Buffer.from([0])] : []), bytes);
}

function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...(length < 128 ? [length] : long)]), content]);
}

function read(text = ''): bigint {
  return BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`);
}

function bytesOf(value: bigint): Buffer {
  const digits = value.toString(16);
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
}

/**
 * An RSA key with the same primes and another public exponent. The exponent has to be a prime, because a number that shares a
 * factor with `p - 1` or `q - 1` has no inverse.
 */
function withExponent(key: KeyObject, exponent: bigint): KeyObject {
  const jwk = key.export({ format: 'jwk' });
  const write = (value: bigint) => bytesOf(value).toString('base64url');
  const [p, q] = [read(jwk.p), read(jwk.q)];
  const d = inverse(exponent, (p - 1n) * (q - 1n));
  const parts = { e: write(exponent), d: write(d), dp: write(d % (p - 1n)), dq: write(d % (q - 1n)) };
  return createPrivateKey({ key: { ...jwk, ...parts }, format: 'jwk' });
}

/** The modular inverse, by Euclid's algorithm: the number that gives 1 when it is multiplied by `of`, modulo `modulo`. */
function inverse(of: bigint, modulo: bigint): bigint {
  let [a, b, x, y] = [of % modulo, modulo, 1n, 0n];
  while (a > 1n) {
    const quotient = a / b;
    [a, b] = [b, a % b];
    [x, y] = [y, x - quotient * y];
  }
  return ((x % modulo) + modulo) % modulo;
}
