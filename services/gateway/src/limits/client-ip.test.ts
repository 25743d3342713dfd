import { describe, expect, it } from 'vitest';
import { Clients, limitKeyOf } from './client-ip.ts';

function ipOf(hops: number, forwarded: string | undefined, remoteAddress: string | undefined): string {
  const clients = new Clients(hops);
  const request = { headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress } };
  const { ip } = clients.of(request);
  // The second time, the client is found in the cache.
  expect(clients.of(request).ip).toBe(ip);
  return ip;
}

describe('Clients', () => {
  it.each([
    ['203.0.113.9', '10.0.0.1', '203.0.113.9'],
    ['2001:DB8::1', '10.0.0.1', '2001:db8::1'],
    ['fe80::1%a-b', '10.0.0.1', 'fe80::1'],
    ['::ffff:203.0.113.9', '10.0.0.1', '203.0.113.9'],
    ['unknown', '10.0.0.1', '10.0.0.1'],
    ['203.0.113.9:4711', '10.0.0.1', '203.0.113.9'],
    ['[2001:db8::1]:4711', '10.0.0.1', '2001:db8::1'],
    ['203.0.113.9:port', '10.0.0.1', '10.0.0.1'],
    ['1', '10.0.0.1', '10.0.0.1'],
    ['', '::ffff:10.0.0.1', '10.0.0.1'],
    [undefined, '::1', '::1'],
    [undefined, undefined, '0.0.0.0'],
  ])(
    'with one trusted proxy, the header %s over the socket %s gives the client %s',
    (forwarded, socket, expected) => {
      expect(ipOf(1, forwarded, socket)).toBe(expected);
    },
  );

  it.each([
    [0, '10.0.0.1'],
    [1, '203.0.113.9'],
    [2, '198.51.100.7'],
    [3, '192.0.2.1'],
    [4, '192.0.2.1'],
  ])('with %i trusted proxies, the client is %s', (hops, expected) => {
    expect(ipOf(hops, '192.0.2.1, 198.51.100.7 , ,203.0.113.9', '10.0.0.1')).toBe(expected);
  });

  it('finds different clients for headers that begin with the same text', () => {
    const clients = new Clients(1);
    const of = (header: string) => clients.of({ headers: { 'x-forwarded-for': header }, socket: {} }).ip;
    expect(['192.0.2.1', '192.0.2.1, 203.0.113.9', '192.0.2.1, 203.0.113.90'].map(of)).toEqual([
      '192.0.2.1',
      '203.0.113.9',
      '203.0.113.90',
    ]);
  });
});

describe('limitKeyOf', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['::1', '::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
  ])('%s is counted under %s', (ip, key) => {
    expect(limitKeyOf(ip)).toBe(key);
  });
});
