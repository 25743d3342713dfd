import { describe, expect, it } from 'vitest';
import { evenSignature } from './even-signature.ts';

const base64url = (hex: string) => Buffer.from(hex, 'hex').toString('base64url');

describe('evenSignature', () => {
  it('gives every number 33 bytes', () => {
    const even = Buffer.from(evenSignature(base64url('3007020101020200ff')), 'base64url').toString('hex');
    expect(even).toBe(`30460221${'00'.repeat(32)}010221${'00'.repeat(32)}ff`);
    const long = '12'.repeat(32);
    const same = base64url(`3046022100${long}022100${long}`);
    expect(evenSignature(same)).toBe(same);
  });

  it('does not change a text that is no signature', () => {
    const cut = base64url('30060201010202');
    for (const text of ['', 'AAAA', cut, base64url(`3025022101${'12'.repeat(32)}020101`)])
      expect(evenSignature(text)).toBe(text);
  });
});
