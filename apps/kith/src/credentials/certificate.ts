import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import { bits, explicit, implicit, integer, octets, oid, sequence, set, time, utf8, yes } from './der.ts';

/** A certificate and its private key, both PEM. */
export interface Certified {
  cert: string;
  key: string;
}

const dayMs = 24 * 3600_000;
const authorityDays = 3_650;
const serverDays = 730;
const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'));
const serverAuth = oid('1.3.6.1.5.5.7.3.1');

/**
 * Makes an authority that signs the certificates of one installation's servers. It uses ECDSA on P-256, and is valid for ten years.
 */
export function makeAuthority(name: string): Certified {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyId = keyIdOf(publicKey);
  const extensions = [
    // The authority may sign servers' certificates, but not further authorities.
    extension('2.5.29.19', sequence(yes, integer(Buffer.from([0]))), { isCritical: true }),
    extension('2.5.29.15', bits(Buffer.from([0b0000_0110]), 1), { isCritical: true }),
    extension('2.5.29.14', octets(keyId)),
  ];
  const cert = issue({
    issuer: name,
    subject: name,
    publicKey,
    signer: privateKey,
    days: authorityDays,
    extensions,
  });
  return { cert, key: pemOf(privateKey) };
}

/** Makes the certificate of a server for its host names and addresses. It is valid for two years. */
export function makeServer(name: string, hosts: readonly string[], authority: Certified): Certified {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signer = createPrivateKey(authority.key);
  const extensions = [
    extension('2.5.29.19', sequence(), { isCritical: true }),
    extension('2.5.29.15', bits(Buffer.from([0b1000_0000]), 7), { isCritical: true }),
    extension('2.5.29.37', sequence(serverAuth)),
    extension('2.5.29.17', sequence(...hosts.map(alternativeName))),
    extension('2.5.29.14', octets(keyIdOf(publicKey))),
    extension('2.5.29.35', sequence(implicit(0, keyIdOf(createPublicKey(signer))))),
  ];
  const issuer = commonName(new X509Certificate(authority.cert).subject);
  const cert = issue({ issuer, subject: name, publicKey, signer, days: serverDays, extensions });
  return { cert, key: pemOf(privateKey) };
}

/** Whether a server's certificate was signed by this authority, names these hosts, and stays valid for more than a year. */
export function isGood(cert: string, hosts: readonly string[], authority: string, now = Date.now()): boolean {
  const own = new X509Certificate(cert);
  const isFor = (host: string) => (isIP(host) ? own.checkIP(host) : own.checkHost(host)) !== undefined;
  const isYoung = Date.parse(own.validTo) - now > (serverDays / 2) * dayMs;
  return isYoung && hosts.every(isFor) && own.verify(new X509Certificate(authority).publicKey);
}

/** If a certificate is not valid at this time, returns the period in which it is valid. */
export function validAtOtherTime(cert: string, now = Date.now()): { from: Date; until: Date } | undefined {
  const { validFrom, validTo } = new X509Certificate(cert);
  const [from, until] = [new Date(validFrom), new Date(validTo)];
  return from.getTime() <= now && now <= until.getTime() ? undefined : { from, until };
}

interface Issued {
  issuer: string;
  subject: string;
  publicKey: KeyObject;
  signer: KeyObject;
  days: number;
  extensions: readonly Buffer[];
}

/** Writes and signs a certificate (RFC 5280, 4.1). */
function issue({ issuer, subject, publicKey, signer, days, extensions }: Issued): string {
  // The certificate is valid from yesterday on, because the clocks of machines differ.
  const from = Date.now() - dayMs;
  const content = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(randomBytes(16)),
    ecdsaWithSha256,
    nameOf(issuer),
    sequence(time(new Date(from)), time(new Date(from + days * dayMs))),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions)),
  );
  const signature = sign('sha256', content, signer);
  const der = sequence(content, ecdsaWithSha256, bits(signature));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function extension(id: string, value: Buffer, { isCritical = false } = {}): Buffer {
  return sequence(oid(id), ...(isCritical ? [yes] : []), octets(value));
}

const nameOf = (text: string) => sequence(set(sequence(oid('2.5.4.3'), utf8(text))));

/** Reads the common name of a subject. The subjects that Kith writes have no other part. */
const commonName = (subject: string) => subject.replace(/^CN=/, '');

function alternativeName(host: string): Buffer {
  const version = isIP(host);
  if (version === 0) return implicit(2, Buffer.from(host));
  if (version === 4) return implicit(7, Buffer.from(host.split('.').map(Number)));
  throw new RangeError(`${host}: certificates are made for names and IPv4 addresses.`);
}

/** A hash of the key's bits (RFC 5280, 4.2.1.2). On this curve, the key's bits are the last 65 bytes of its DER form. */
function keyIdOf(publicKey: KeyObject): Buffer {
  const point = publicKey.export({ type: 'spki', format: 'der' }).subarray(-65);
  return createHash('sha1').update(point).digest();
}

const pemOf = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
