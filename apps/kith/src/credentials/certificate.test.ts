import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { expect, test } from 'vitest';
import { isGood, makeAuthority, makeServer } from './certificate.ts';
import { integer, oid, time } from './der.ts';

const hosts = ['nats', 'localhost', '127.0.0.1'];

test('DER values are encoded as X.690 requires', () => {
  expect(oid('1.2.840.10045.4.3.2').toString('hex')).toBe('06082a8648ce3d040302');
  expect(integer(Buffer.from([0, 0x80])).toString('hex')).toBe('02020080');
  expect(integer(Buffer.from([0, 0])).toString('hex')).toBe('020100');
  expect(time(new Date('2049-12-31T23:59:59.5Z')).toString('latin1')).toBe('\x17\x0d491231235959Z');
  expect(time(new Date('2050-01-01T00:00:00Z')).toString('latin1')).toBe('\x18\x0f20500101000000Z');
});

test('clients trust a server only if they trust its authority and use one of its names', async () => {
  const authority = makeAuthority('Kith installation');
  const own = makeServer('nats', hosts, authority);
  const read = new X509Certificate(own.cert);
  expect([read.ca, new X509Certificate(authority.cert).ca]).toEqual([false, true]);
  expect(read.subjectAltName).toBe('DNS:nats, DNS:localhost, IP Address:127.0.0.1');
  expect(read.checkIssued(new X509Certificate(authority.cert))).toBe(true);

  const server = createServer(own, (socket) => socket.end());
  server.on('tlsClientError', () => {});
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const reach = async (ca: string, servername: string) => {
    const socket = connect({ host: '127.0.0.1', port, ca, servername });
    await once(socket, 'secureConnect').finally(() => socket.destroy());
  };
  await reach(authority.cert, 'nats');
  await reach(authority.cert, 'localhost');
  await expect(reach(authority.cert, 'mongo')).rejects.toThrow(/altnames/i);
  await expect(reach(makeAuthority('Kith installation').cert, 'nats')).rejects.toThrow(
    /signature|certificate/i,
  );
  server.close();
});

test('isGood refuses a certificate for other hosts, from another authority, or with less than a year left', () => {
  const authority = makeAuthority('Kith installation');
  const { cert } = makeServer('nats', hosts, authority);
  const days = (count: number) => Date.now() + count * 24 * 3600_000;
  expect(isGood(cert, hosts, authority.cert)).toBe(true);
  expect(isGood(cert, [...hosts, 'nats.example.com'], authority.cert)).toBe(false);
  expect(isGood(cert, hosts, makeAuthority('Kith installation').cert)).toBe(false);
  expect([
    isGood(cert, hosts, authority.cert, days(360)),
    isGood(cert, hosts, authority.cert, days(370)),
  ]).toEqual([true, false]);
});
