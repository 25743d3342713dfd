import { describe, expect, it } from 'vitest';
import { clientIpOf, limitKeyOf } from './client-ip.ts';

describe('clientIpOf', () => {
  it.each([
    ['203.0.113.9', '10.0.0.1', '203.0.113.9'],
    ['2001:DB8::1', '10.0.0.1', '2001:db8::1'],
    ['::ffff:203.0.113.9', '10.0.0.1', '203.0.113.9'],
    ['unknown', '10.0.0.1', '10.0.0.1'],
    ['203.0.113.9:4711', '10.0.0.1', '10.0.0.1'],
    ['1', '10.0.0.1', '10.0.0.1'],
    ['', '::ffff:10.0.0.1', '10.0.0.1'],
    [undefined, '::1', '::1'],
    [undefined, undefined, '0.0.0.0'],
  ])('%s over %s is %s', (forwarded, socket, expected) => {
    expect(clientIpOf(forwarded, socket)).toBe(expected);
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
  ])('%s counts under %s', (ip, key) => {
    expect(limitKeyOf(ip)).toBe(key);
  });
});
